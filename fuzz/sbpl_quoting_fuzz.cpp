// SPDX-License-Identifier: Apache-2.0
// Whatever bytes a path has, a profile that names it reads back as that path and nothing else, and
// the expression made from it matches it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "plan/macos/sbpl_text.h"
#include "support/sbpl.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using Kind = harn::test::SbplNode::Kind;
  const std::string path = "/" + std::string(bytes, bytes + size);
  const harn::plan::SbplRule rule{
      .allow = true, .operations = {"file-read*"}, .filters = {{harn::plan::SbplMatch::subpath, path}}, .why = "fuzz"};
  const auto nodes = harn::test::parse_sbpl(harn::plan::sbpl_text({&rule, 1}));
  require(nodes && nodes->size() == 3);
  const auto& written = (*nodes)[2];
  require(written.items.size() == 3 && written.items[2].kind == Kind::list && written.items[2].items.size() == 2);
  require(written.items[2].items[1].kind == Kind::string && written.items[2].items[1].text == path);
  if (path.find('\0') != std::string::npos) return 0;  // no path has one, and regcomp would stop there

  const auto cut = size / 2;
  const harn::plan::SbplRule any_case{
      .allow = true,
      .operations = {"file-read*"},
      .filters = {{harn::plan::SbplMatch::regex, harn::plan::sbpl_any_case(path.substr(0, cut), path.substr(cut))}},
      .why = "fuzz"};
  std::string problem;
  const auto profile = harn::test::SbplProfile::parse(harn::plan::sbpl_text({&any_case, 1}), problem);
  require(profile && profile->allows("file-read-data", path) && !profile->allows("file-read-data", "/elsewhere" + path));
  return 0;
}
