// SPDX-License-Identifier: Apache-2.0
#include "policy/kinds.h"

#include <gtest/gtest.h>

namespace harn::policy {
namespace {

HostFacts facts_with(PathKind unlisted) {
  HostFacts facts;
  facts.unlisted = unlisted;
  facts.paths["/w"] = {.kind = PathKind::directory};
  facts.paths["/w/file"] = {.kind = PathKind::file};
  facts.paths["/w/gone"] = {.kind = PathKind::missing};
  return facts;
}

TEST(Kinds, WhatIsListedIsWhatItIs) {
  const auto facts = facts_with(PathKind::missing);
  Kinds kinds(facts);
  EXPECT_EQ(kinds.at("/w"), PathKind::directory);
  EXPECT_EQ(kinds.at("/w/file"), PathKind::file);
  EXPECT_EQ(kinds.at("/w/gone"), PathKind::missing);
}

TEST(Kinds, NothingLiesBeneathWhatIsNoDirectory) {
  const auto facts = facts_with(PathKind::directory);
  Kinds kinds(facts);
  EXPECT_EQ(kinds.at("/w/file/x"), PathKind::missing);
  EXPECT_EQ(kinds.at("/w/gone/x/y"), PathKind::missing);
  EXPECT_EQ(kinds.at("/w/other/x"), PathKind::directory);
  EXPECT_EQ(kinds.at("/"), PathKind::directory);
}

// The answer for one directory must never leak into the next.
TEST(Kinds, AgreeWithSingleQuestionsInAnyOrder) {
  for (const auto unlisted : {PathKind::missing, PathKind::directory, PathKind::file}) {
    const auto facts = facts_with(unlisted);
    Kinds kinds(facts);
    for (const auto* path :
         {"/w/a", "/w/b", "/w/file/a", "/w/c", "/w/file", "/w/gone/a", "/w/gone", "/x", "/", "/w/d/e", "/w/file/b", "/w"})
      EXPECT_EQ(kinds.at(path), facts.kind_of(AbsPath::of(path))) << path;
  }
}

}  // namespace
}  // namespace harn::policy
