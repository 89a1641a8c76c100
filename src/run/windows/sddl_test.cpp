// SPDX-License-Identifier: Apache-2.0
#include "run/windows/sddl.h"

#include <gtest/gtest.h>

namespace harn::run::windows {
namespace {

constexpr std::string_view package = "S-1-15-2-1-2-3-4-5-6-7";

TEST(Sddl, ReadsAndWritesWhatWindowsWrites) {
  for (const auto* text : {
           "D:",
           "D:P",
           "D:PAI",
           "D:NO_ACCESS_CONTROL",
           "D:(A;;FA;;;SY)",
           "D:AI(D;OICI;0x1301bf;;;S-1-5-21-1)(A;OICIID;FA;;;BA)(A;OICIIOID;GA;;;CO)(A;;0x1200a9;;;AC)",
           "D:(OA;;CC;4828cc14-1437-45bc-9b07-ad6f015e5f28;bf967aba-0de6-11d0-a285-00aa003049e2;AO)",
           "D:(XA;;FX;;;WD;(@User.Title==\"a)b\" && (Member_of {SID(BA)})))(A;;FR;;;BU)",
       }) {
    const auto dacl = parse_dacl(text);
    ASSERT_TRUE(dacl) << text;
    EXPECT_EQ(dacl->text(), text);
  }
}

TEST(Sddl, RefusesWhatItDoesNotUnderstand) {
  for (const auto* text : {"", "O:BAD:", "D:Q", "D:(A;;FA;;;SY", "D:(A;;FA)", "D:x(A;;FA;;;SY)", "D:(A;;FA;;;SY)x"})
    EXPECT_FALSE(parse_dacl(text)) << text;
}

TEST(Sddl, RightsAreNumbersOrWords) {
  const auto mask = [](std::string rights) { return Ace{.rights = std::move(rights)}.mask(); };
  EXPECT_EQ(mask("0x1200a9"), read_and_execute);
  EXPECT_EQ(mask("FRFX"), 0x1200A9u);
  EXPECT_EQ(mask("FA"), 0x1F01FFu);
  EXPECT_EQ(mask(""), 0u);
  EXPECT_EQ(mask("ZZ"), std::nullopt);
  EXPECT_EQ(mask("0xzz"), std::nullopt);
  EXPECT_EQ(mask("F"), std::nullopt);
}

TEST(Sddl, ContainerEntries) {
  EXPECT_EQ(container_ace(package, modify, true).text(), "(A;OICI;0x1301bf;;;S-1-15-2-1-2-3-4-5-6-7)");
  EXPECT_EQ(container_ace(package, read_and_execute, false).text(), "(A;;0x1200a9;;;S-1-15-2-1-2-3-4-5-6-7)");
}

TEST(Sddl, NewEntriesComeAfterDenialsAndBeforeWhatIsInherited) {
  auto dacl = *parse_dacl("D:(D;;FA;;;BG)(A;;FA;;;SY)(A;ID;FA;;;BA)");
  add_entry(dacl, container_ace(package, modify, false));
  EXPECT_EQ(dacl.text(), "D:(D;;FA;;;BG)(A;;0x1301bf;;;S-1-15-2-1-2-3-4-5-6-7)(A;;FA;;;SY)(A;ID;FA;;;BA)");
  EXPECT_TRUE(remove_entries_of(dacl, package));
  EXPECT_FALSE(remove_entries_of(dacl, package));
  EXPECT_EQ(dacl.text(), "D:(D;;FA;;;BG)(A;;FA;;;SY)(A;ID;FA;;;BA)");
}

TEST(Sddl, StoppedInheritanceComesBackAsItWas) {
  auto dacl = *parse_dacl("D:AI(A;OICI;FR;;;BU)(A;OICIID;FA;;;BA)(A;OICIIOID;GA;;;CO)");
  const auto copies = stop_inheritance(dacl);
  EXPECT_EQ(dacl.text(), "D:PAI(A;OICI;FR;;;BU)(A;OICI;FA;;;BA)(A;OICIIO;GA;;;CO)");
  EXPECT_EQ(copies, (std::vector<std::string>{"(A;OICI;FA;;;BA)", "(A;OICIIO;GA;;;CO)"}));
  resume_inheritance(dacl, copies);
  EXPECT_EQ(dacl.text(), "D:AI(A;OICI;FR;;;BU)");
}

TEST(Sddl, WhatAdmitsEveryContainerCountsForOurs) {
  EXPECT_EQ(allowed_for(*parse_dacl("D:(A;;0x2;;;S-1-15-2-1-2-3-4-5-6-7)(A;;0x4;;;AC)(A;;FA;;;BA)(D;;FA;;;AC)(A;OICIIO;FA;;;AC)"), package),
            6u);
  EXPECT_EQ(allowed_for(*parse_dacl("D:NO_ACCESS_CONTROL"), package), ~0u);
  EXPECT_EQ(allowed_for(*parse_dacl("D:(A;;ZZ;;;AC)"), package), ~0u) << "what is not understood is taken to allow";
  EXPECT_EQ(allowed_for(*parse_dacl("D:(A;ID;0x8;;;s-1-15-2-1)"), package), 8u);
}

TEST(Sddl, TellsOneContainerFromAll) {
  EXPECT_TRUE(is_package_sid(package));
  for (const auto* sid : {"AC", "S-1-15-2-1", "S-1-15-2-2", "S-1-15-3-1", "S-1-5-18", "BA", ""}) EXPECT_FALSE(is_package_sid(sid)) << sid;
}

TEST(Sddl, NetworkCapabilitiesHaveWellKnownSids) {
  EXPECT_EQ(capability_sid("internetClient"), "S-1-15-3-1");
  EXPECT_EQ(capability_sid("privateNetworkClientServer"), "S-1-15-3-3");
  EXPECT_EQ(capability_sid("documentsLibrary"), std::nullopt);
}

}  // namespace
}  // namespace harn::run::windows
