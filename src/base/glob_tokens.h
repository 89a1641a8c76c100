// SPDX-License-Identifier: Apache-2.0
// The words of a glob, before braces are expanded. Internal to glob.cpp and glob_tokens.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"

namespace harn::base {

struct GlobToken {
  enum class Kind : std::uint8_t {
    atom,
    any_depth,
    slash,
    open,
    comma,
    close
  };
  Kind kind = Kind::atom;
  Glob::Atom atom = {};
  std::size_t position = 0;  // of the first character, counted from 1
  std::string text = {};     // as written
  std::string plain = {};    // escapes undone
};

// Fails on bytes, sets, escapes and braces that mean nothing; braces in the result are balanced.
Result<std::vector<GlobToken>> tokenize_glob(std::string_view glob);

// Characters of a path; a byte that is not UTF-8 becomes a value no glob can spell.
std::u32string decode_path(std::string_view text);

std::unexpected<Error> bad_glob(std::string_view glob, std::string_view problem, std::string hint);

}  // namespace harn::base
