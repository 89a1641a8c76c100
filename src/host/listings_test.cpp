// SPDX-License-Identifier: Apache-2.0
#include "host/listings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/resolve_paths.h"
#include "support/temp_dir.h"

namespace harn::host {
namespace {

using test::TempDir;

constexpr const char* names[] = {"file",     "file/below",     "dir",  "dir/inside", "dir/absent",  "link", "link/inside", "link/absent",
                                 "dangling", "dangling/below", "loop", "absent",     "absent/below"};

void furnish(const TempDir& temp) {
  temp.file("file");
  temp.file("dir/inside");
  temp.link("link", "dir");
  temp.link("dangling", "nowhere");
  temp.link("loop", "loop");
}

TEST(Listings, SayWhatSingleLooksSay) {
  const TempDir temp;
  furnish(temp);
  Listings listings;
  listings.add(temp.path());
  listings.add(temp.path("dir"));
  for (const auto* name : names) EXPECT_EQ(listings.look(temp.path(name)), look_at(temp.path(name))) << name;
  EXPECT_EQ(listings.look(AbsPath::of("/")), look_at(AbsPath::of("/")));
}

TEST(Listings, OnlyWhatWasReadIsKnownToBeAbsent) {
  const TempDir temp;
  furnish(temp);
  Listings listings;
  EXPECT_FALSE(listings.known_absent(temp.path("absent").text()));
  listings.add(temp.path());
  for (const auto* name : names)
    EXPECT_EQ(listings.known_absent(temp.path(name).text()), std::string_view(name).starts_with("absent")) << name;
  EXPECT_FALSE(listings.known_absent(temp.path().text()));
  EXPECT_FALSE(listings.known_absent(temp.path().text() + "-beside"));
  EXPECT_FALSE(listings.known_absent("/"));
  listings.add(AbsPath::of("/"));
  EXPECT_TRUE(listings.known_absent("/no such directory/at all"));
}

TEST(Listings, ADirectoryThatIsTooLongTellsNothing) {
  const TempDir temp;
  for (int i = 0; i < 2100; ++i) temp.file(fmt::format("f{}", i));
  Listings listings;
  listings.add(temp.path());
  EXPECT_FALSE(listings.known_absent(temp.path("absent").text()));
  EXPECT_EQ(listings.look(temp.path("f2099")).kind, PathKind::file);
}

}  // namespace
}  // namespace harn::host
