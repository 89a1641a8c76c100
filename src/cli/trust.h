// SPDX-License-Identifier: Apache-2.0
// The user's list of project files that may ask for more: one line per file, a digest and its path.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/load.h"

namespace harn::cli {

struct TrustedFile {
  std::string digest = {};
  std::string path = {};

  auto operator<=>(const TrustedFile&) const = default;
};

// Binds place and text: the same text in another project, or another text here, is not this file.
std::string trust_digest(const SourceText& source);

std::vector<TrustedFile> parse_trusted(std::string_view text);
std::string print_trusted(const std::vector<TrustedFile>& files);

Result<std::vector<TrustedFile>> load_trusted(const Caller& caller);

}  // namespace harn::cli
