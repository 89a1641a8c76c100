// SPDX-License-Identifier: Apache-2.0
// Path globs, strict and of bounded cost: a bad glob is an error with its position, and matching
// takes at most (branches × glob × path) steps.
//
//   *      any characters inside one component, also a leading dot     ?   one character
//   [a-z]  one of these     [!a-z]  one of all others      \*  a literal special character
//   {a,b}  either; expanded first, so each branch has its own literal prefix
//   **     a whole component: any number of components, also none ("a/**" matches "a" and all below)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harn/result.h"

namespace harn::base {

inline constexpr std::size_t max_glob_bytes = 1024;
inline constexpr std::size_t max_glob_branches = 256;
inline constexpr int max_glob_nesting = 16;

// What one branch surely starts with, and what is left to match beneath it ("" = nothing).
struct GlobPrefix {
  std::string literal = {};    // path text, escapes undone; "/" or "" when no component is literal
  std::string remainder = {};  // glob text

  auto operator<=>(const GlobPrefix&) const = default;
};

class Glob {
 public:
  static Result<Glob> compile(std::string_view text);

  // `path` as normalised text; an absolute glob matches only absolute paths, a relative one only
  // relative paths.
  bool matches(std::string_view path) const;

  // One per branch, sorted, without duplicates.
  std::vector<GlobPrefix> prefixes() const;

  // One step inside a component.
  struct Atom {
    enum class Kind : std::uint8_t {
      literal,
      any,
      star,
      set
    };
    Kind kind = Kind::literal;
    bool negated = false;
    std::vector<std::pair<char32_t, char32_t>> ranges = {};  // a literal is one range of one character
  };
  struct Component {
    bool any_depth = false;  // "**"
    bool literal = true;
    std::vector<Atom> atoms = {};
    std::string text = {};   // as written
    std::string plain = {};  // escapes undone; meaningful while `literal`
  };
  struct Branch {
    bool absolute = false;
    std::vector<Component> components = {};
  };

 private:
  std::vector<Branch> branches_ = {};
};

// The glob that matches exactly `path`.
std::string glob_escape(std::string_view path);

}  // namespace harn::base
