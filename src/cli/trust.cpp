// SPDX-License-Identifier: Apache-2.0
#include "cli/trust.h"

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"

namespace harn::cli {

std::string trust_digest(const SourceText& source) {
  return base::sha256_hex(fmt::format("{}{}{}", source.path.text(), '\0', source.text));
}

std::vector<TrustedFile> parse_trusted(std::string_view text) {
  std::vector<TrustedFile> files;
  for (const auto line : base::split(text, '\n')) {
    const auto space = line.find(' ');
    if (space == 64) files.push_back({std::string(line.substr(0, space)), std::string(base::trim(line.substr(space)))});
  }
  return files;
}

std::string print_trusted(const std::vector<TrustedFile>& files) {
  std::string out;
  for (const auto& file : files) out += fmt::format("{}  {}\n", file.digest, file.path);
  return out;
}

Result<std::vector<TrustedFile>> load_trusted(const Caller& caller) {
  HARN_TRY(source, read_source_if_present(trust_file(caller)));
  return source ? parse_trusted(source->text) : std::vector<TrustedFile>();
}

}  // namespace harn::cli
