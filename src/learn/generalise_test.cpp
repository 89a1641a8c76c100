// SPDX-License-Identifier: Apache-2.0
#include "learn/generalise.h"

#include <gtest/gtest.h>

namespace harn::learn {
namespace {

AbsPath p(std::string_view text) { return AbsPath::of(text); }

Bounds bounds() {
  return {.is_too_wide = [](const AbsPath& path) { return path.contains(p("/home/u")) || path == p("/home/u/.cache"); },
          .version_places = {p("/home/u/.nvm"), p("/home/u/.cache/pip"), p("/opt")}};
}

Grants numbered(std::string_view directory, int count, Access access) {
  Grants out;
  for (int i = 0; i < count; ++i) out[p(directory).join("f" + std::to_string(i))] = access;
  return out;
}

TEST(Generalise, ManyNamesOfADirectoryBecomeTheDirectory) {
  EXPECT_EQ(generalise(numbered("/home/u/data", 10, Access::read), bounds()).size(), 10u);
  EXPECT_EQ(generalise(numbered("/home/u/data", 11, Access::read), bounds()), (Grants{{p("/home/u/data"), Access::read}}));
}

TEST(Generalise, ManyDirectoriesThatBecameGrantsCountInTurn) {
  Grants exact;
  for (int d = 0; d < 11; ++d) exact.merge(numbered("/data/modules/m" + std::to_string(d), 11, Access::read));
  EXPECT_EQ(generalise(exact, bounds()), (Grants{{p("/data/modules"), Access::read}}));
}

TEST(Generalise, ReadingManyMakesNothingWritable) {
  auto exact = numbered("/home/u/data", 11, Access::read);
  exact[p("/home/u/data/out")] = Access::write;
  EXPECT_EQ(generalise(exact, bounds()), (Grants{{p("/home/u/data"), Access::read}, {p("/home/u/data/out"), Access::write}}));
}

TEST(Generalise, TheHomeDirectoryNeverBecomesAGrant) {
  EXPECT_EQ(generalise(numbered("/home/u", 50, Access::read), bounds()).size(), 50u);
  EXPECT_EQ(generalise(numbered("/home/u/.cache", 50, Access::read), bounds()).size(), 50u);
}

TEST(Generalise, AVersionBecomesThePlaceOfVersions) {
  const auto one = [](std::string_view path) { return generalise({{p(path), Access::read}}, bounds()).begin()->first.text(); };
  EXPECT_EQ(one("/home/u/.nvm/versions/node/v18.2.0/bin/node"), "/home/u/.nvm/versions/node");
  EXPECT_EQ(one("/opt/tool-1.2.3/bin/tool"), "/opt");
  EXPECT_EQ(one("/home/u/.cache/pip/http/3b1a0f6d2c4e5a7b/body"), "/home/u/.cache/pip/http");
  EXPECT_EQ(one("/home/u/work-1.2.3/file"), "/home/u/work-1.2.3/file") << "no place of versions";
  EXPECT_EQ(one("/home/u/.nvm/nvm.sh"), "/home/u/.nvm/nvm.sh");
}

TEST(Generalise, NoRootLiesInsideARepositorysOwnDirectory) {
  const Grants exact = {{p("/w/.git/objects"), Access::write}, {p("/w/.git"), Access::write}};
  EXPECT_EQ(generalise(exact, bounds()), (Grants{{p("/w"), Access::write}})) << "its hooks would be plain files";
}

TEST(Generalise, WhatAnotherGrantCoversIsLeftOut) {
  const Grants exact = {{p("/a"), Access::write}, {p("/a/b"), Access::read}, {p("/c"), Access::read}, {p("/c/d"), Access::write}};
  EXPECT_EQ(generalise(exact, bounds()), (Grants{{p("/a"), Access::write}, {p("/c"), Access::read}, {p("/c/d"), Access::write}}));
}

TEST(LooksVersioned, KnowsVersionsAndDigests) {
  for (const auto* name : {"v18.2.0", "1.2", "cpython-3.12.1-linux", "index.crates.io-6f17d22bba15001f", "v2", "deadbeef00112233"})
    EXPECT_TRUE(looks_versioned(name)) << name;
  for (const auto* name : {"node", "lib64", "file.txt", "python3", "v", "a.b", "deadbeefcafeface"})
    EXPECT_FALSE(looks_versioned(name)) << name;
}

}  // namespace
}  // namespace harn::learn
