// SPDX-License-Identifier: Apache-2.0
// AbsPath: the text of an absolute path, normalised once and only ever compared component by
// component. No I/O happens here; symbolic links are resolved by host/ before a policy is used.
//
// Inside, separators are always '/'. A Windows path keeps its drive as the first component
// ("C:/Users/me"); platform lowerings print it back with backslashes.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "harn/result.h"

namespace harn {

class AbsPath {
 public:
  // The root directory.
  AbsPath() : text_("/") {}

  // Accepts only absolute text without NUL; folds "//", "/./", "/../" and a trailing slash.
  static Result<AbsPath> parse(std::string_view text);

  // For text that is known to be absolute (tables, tests). Aborts on anything else.
  static AbsPath of(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_root() const;                           // "/" or "C:/"
  AbsPath parent() const;                         // of the root: the root
  std::string_view name() const;                  // last component; empty for the root
  std::size_t depth() const;                      // number of components; 0 for "/"
  AbsPath join(std::string_view relative) const;  // relative text, normalised; may not climb out with ".."

  // True when `other` is this path or lies beneath it.
  bool contains(const AbsPath& other) const;

  // The part of `other` beneath this path, without a leading slash; empty when equal or not beneath.
  std::string_view below(const AbsPath& other) const;

  // Component-wise order: a directory sorts directly before everything beneath it.
  std::strong_ordering operator<=>(const AbsPath& other) const;
  bool operator==(const AbsPath& other) const = default;

 private:
  explicit AbsPath(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// True when the text would be accepted as absolute on any platform Harn plans for.
bool looks_absolute(std::string_view text);

}  // namespace harn

template <>
struct std::hash<harn::AbsPath> {
  std::size_t operator()(const harn::AbsPath& path) const noexcept { return std::hash<std::string>{}(path.text()); }
};
