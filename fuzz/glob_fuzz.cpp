// SPDX-License-Identifier: Apache-2.0
// First line a glob, second a path: no crash, no blow-up, a match lies beneath one of the literal
// prefixes, and an escaped path matches itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/glob.h"
#include "base/text.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string folded(std::string_view path) {
  std::string out = path.starts_with('/') ? "/" : "";
  for (const auto part : harn::base::split(path, '/')) {
    if (part.empty()) continue;
    if (!out.empty() && out.back() != '/') out += '/';
    out += part;
  }
  return out;
}

bool lies_beneath(const std::string& path, const std::string& prefix) {
  return prefix.empty() || prefix == "/" || path == prefix || path.starts_with(prefix + "/");
}

void check_escaped(std::string_view path) {
  const auto exact = harn::base::Glob::compile(harn::base::glob_escape(path));
  const bool normal = exact && exact->prefixes().front().literal == folded(path);  // no "." components
  if (normal) require(exact->matches(path));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto cut = text.find('\n');
  const auto path = cut == std::string_view::npos ? std::string_view{} : text.substr(cut + 1);
  check_escaped(path);
  const auto glob = harn::base::Glob::compile(text.substr(0, cut));
  if (!glob) {
    require(!glob.error().message.empty() && !glob.error().hint.empty());
    return 0;
  }
  bool beneath = false;
  for (const auto& [literal, remainder] : glob->prefixes()) {
    beneath = beneath || lies_beneath(folded(path), literal);
    if (remainder.empty()) require(glob->matches(literal));
  }
  require(beneath || !glob->matches(path));
  return 0;
}
