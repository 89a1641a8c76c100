// SPDX-License-Identifier: Apache-2.0
// Two runs in one directory, and people who change lists meanwhile.
#include "run/windows/acl_grants.h"

#include <gtest/gtest.h>

#include "run/windows/fake_windows.h"
#include "run/windows/sddl.h"

namespace harn::run::windows {
namespace {

AclGrant entry(std::string_view path, bool writable, bool stops, bool inherit = true) {
  return {.path = AbsPath::of(path), .modify = writable, .inherit = inherit, .stops_inheritance = stops};
}

const std::vector<PathChange> guarded =
    path_changes({entry("C:/w", true, false), entry("C:/w/in", false, true), entry("C:/w/in", false, false)});

class AclGrants : public ::testing::Test {
 protected:
  AclGrants() {
    disk.add("C:/", "D:P(A;OICI;FA;;;BA)");
    disk.add("C:/w", "D:AI(A;OICI;FA;;;S-1-5-21-1)");
    disk.add("C:/w/in", "D:AI(D;;WD;;;S-1-5-21-2)");
    before = disk;
    windows.running = {4711};
  }
  Journal journal(const std::string& name) { return {.container = name, .sid = FakeWindows::sid_of(name), .owner = 4711, .started = 1000}; }
  std::uint32_t allowed(const Journal& who, std::string_view path) { return allowed_for(disk.effective(AbsPath::of(path)), who.sid); }

  FakeDisk disk = {};
  FakeDisk before = {};
  FakeWindows windows{disk};
  Calls calls = windows.calls();
  std::vector<std::string> notes = {};
};

TEST_F(AclGrants, InnerStopsComeFirstAndEachPathIsWrittenOnce) {
  const auto changes =
      path_changes({entry("C:/w", true, false), entry("C:/w/a", false, true), entry("C:/w/a", false, false), entry("C:/w/a/b", false, true),
                    entry("C:/w/a/b/c", true, false), entry("C:/w/f", false, true, false)});
  EXPECT_EQ(changes, (std::vector<PathChange>{
                         {.path = AbsPath::of("C:/w/a/b"), .stops = true, .mask = 0, .inherit = true},
                         {.path = AbsPath::of("C:/w/a"), .stops = true, .mask = read_and_execute, .inherit = true},
                         {.path = AbsPath::of("C:/w/f"), .stops = true, .mask = 0, .inherit = false},
                         {.path = AbsPath::of("C:/w/a/b/c"), .stops = false, .mask = modify, .inherit = true},
                         {.path = AbsPath::of("C:/w"), .stops = false, .mask = modify, .inherit = true},
                     }));
}

// By the time of undoing the command may have made of its names what it likes.
TEST_F(AclGrants, UndoingTouchesNothingThatOnlyHasTheName) {
  disk.add("C:/w/mid");
  disk.add("C:/w/mid/ro");
  disk.add("C:/secret");
  disk.add("C:/secret/ro", "D:P(A;OICI;FA;;;S-1-5-21-1)");  // protected, as such directories are
  const auto secret = disk.own.at(AbsPath::of("C:/secret/ro"));
  const auto changes = path_changes({entry("C:/w", true, false), entry("C:/w/mid/ro", false, true), entry("C:/w/mid/ro", false, false)});
  auto own = journal("a");
  ASSERT_TRUE(apply_changes(calls, changes, own));
  windows.leads = [](const AbsPath& path) {
    const auto text = path.text();
    return text.starts_with("C:/w/mid") ? AbsPath::of("C:/secret" + text.substr(8)) : path;
  };
  ASSERT_TRUE(undo(calls, own, notes));
  EXPECT_EQ(disk.own.at(AbsPath::of("C:/secret/ro")), secret);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("C:/w/mid/ro"), std::string::npos) << notes[0];
  EXPECT_TRUE(disk.journals.empty());
}

TEST_F(AclGrants, UndoingTouchesNoOtherObjectOfTheSameName) {
  auto own = journal("a");
  ASSERT_TRUE(apply_changes(calls, guarded, own));
  disk.own[AbsPath::of("C:/w/in")] = *parse_dacl("D:P(A;OICI;FA;;;S-1-5-21-3)");
  windows.replaced[AbsPath::of("C:/w/in")] = "another";
  const auto after_a_crash = [&] {
    windows.running.clear();
    return recover(calls);
  }();
  EXPECT_EQ(disk.own.at(AbsPath::of("C:/w/in")).text(), "D:P(A;OICI;FA;;;S-1-5-21-3)");
  EXPECT_EQ(after_a_crash.size(), 1u);
}

TEST_F(AclGrants, TheJournalIsFoundInAnyLetterCaseAndBehindALink) {
  for (const auto* path : {"C:/users/me/appdata/local", "C:/Users/ME", "D:/profiles/me"}) {
    disk.add(path);
    windows.leads = [this](const AbsPath& asked) {
      return asked == calls.journal_directory ? AbsPath::of("D:/profiles/me/AppData/Local/harn/journal") : asked;
    };
    if (std::string_view(path).starts_with("C:")) windows.leads = [](const AbsPath& asked) { return asked; };
    auto own = journal("a");
    const auto made = apply_changes(calls, path_changes({entry(path, true, false)}), own);
    ASSERT_FALSE(made) << path;
    EXPECT_NE(made.error().message.find("journal"), std::string::npos) << made.error().message;
  }
}

TEST_F(AclGrants, OthersKeepTheirAccessWhereInheritanceStops) {
  auto own = journal("a");
  ASSERT_TRUE(apply_changes(calls, guarded, own));
  EXPECT_EQ(disk.effective(AbsPath::of("C:/w/in")).text(),
            "D:PAI(D;;WD;;;S-1-5-21-2)(A;OICI;0x1200a9;;;" + own.sid + ")(A;OICI;FA;;;S-1-5-21-1)(A;OICI;FA;;;BA)");
  ASSERT_TRUE(undo(calls, own, notes));
  EXPECT_EQ(disk, before);
  ASSERT_TRUE(undo(calls, own, notes)) << "it can be repeated";
  EXPECT_EQ(disk, before);
}

TEST_F(AclGrants, WhoGoesFirstDoesNotOpenWhatTheOtherStillGuards) {
  for (const bool first_goes_first : {true, false}) {
    auto first = journal("a");
    auto second = journal("b");
    ASSERT_TRUE(apply_changes(calls, guarded, first));
    ASSERT_TRUE(apply_changes(calls, guarded, second));
    auto& leaver = first_goes_first ? first : second;
    auto& stayer = first_goes_first ? second : first;
    ASSERT_TRUE(undo(calls, leaver, notes));
    EXPECT_EQ(allowed(leaver, "C:/w/in"), 0u);
    EXPECT_EQ(allowed(stayer, "C:/w/in"), read_and_execute);
    EXPECT_EQ(allowed(stayer, "C:/w"), modify);
    ASSERT_TRUE(undo(calls, stayer, notes));
    EXPECT_EQ(disk, before) << first_goes_first;
  }
}

TEST_F(AclGrants, WhatPeopleChangeMeanwhileStays) {
  auto own = journal("a");
  ASSERT_TRUE(apply_changes(calls, guarded, own));
  auto& list = disk.own[AbsPath::of("C:/w/in")];
  add_entry(list, *parse_dacl("D:(A;;FR;;;S-1-5-21-3)").value().entries.begin());
  ASSERT_TRUE(undo(calls, own, notes));
  EXPECT_EQ(disk.own[AbsPath::of("C:/w/in")].text(), "D:AI(D;;WD;;;S-1-5-21-2)(A;;FR;;;S-1-5-21-3)");
}

TEST_F(AclGrants, InheritanceThatHadEndedBeforeStaysEnded) {
  disk.own[AbsPath::of("C:/w/in")].is_protected = true;
  before = disk;
  auto first = journal("a");
  auto second = journal("b");
  ASSERT_TRUE(apply_changes(calls, guarded, first));
  ASSERT_TRUE(apply_changes(calls, guarded, second));
  ASSERT_TRUE(undo(calls, first, notes));
  ASSERT_TRUE(undo(calls, second, notes));
  EXPECT_EQ(disk, before);
}

TEST_F(AclGrants, AGuardThatWasNeverMadeIsNotUnmade) {
  auto own = journal("a");
  auto dying = windows.calls();
  dying.write_dacl = [](const AbsPath&, const std::string&) -> Status { return fail(Error{.code = ErrorCode::os, .message = "full"}); };
  EXPECT_FALSE(apply_changes(dying, guarded, own));
  ASSERT_TRUE(undo(calls, own, notes));
  EXPECT_EQ(disk, before);
}

TEST_F(AclGrants, AnEntryOfPeopleThatLooksLikeACopyStaysTheirs) {
  disk.own[AbsPath::of("C:/w/in")] = *parse_dacl("D:AI(A;OICI;FA;;;S-1-5-21-1)");
  before = disk;
  auto own = journal("a");
  auto dying = windows.calls();
  dying.write_dacl = [](const AbsPath&, const std::string&) -> Status { return fail(Error{.code = ErrorCode::os, .message = "full"}); };
  EXPECT_FALSE(apply_changes(dying, guarded, own));
  ASSERT_TRUE(undo(calls, own, notes)) << "the guard was never made, so nothing was copied";
  EXPECT_EQ(disk, before);
  auto whole = journal("b");
  ASSERT_TRUE(apply_changes(calls, guarded, whole));
  ASSERT_TRUE(undo(calls, whole, notes));
  EXPECT_EQ(disk, before);
}

TEST_F(AclGrants, WhatTheCommandRemovedNeedsNoUndoing) {
  auto own = journal("a");
  ASSERT_TRUE(apply_changes(calls, guarded, own));
  disk.own.erase(AbsPath::of("C:/w/in"));
  EXPECT_TRUE(undo(calls, own, notes));
  EXPECT_TRUE(disk.journals.empty());
}

TEST_F(AclGrants, AnUndoThatFailsKeepsTheJournalAndIsSaid) {
  auto own = journal("a");
  ASSERT_TRUE(apply_changes(calls, guarded, own));
  auto failing = windows.calls();
  failing.write_dacl = [](const AbsPath&, const std::string&) -> Status {
    return fail(Error{.code = ErrorCode::os, .message = "the list of 'C:/w' cannot be written"});
  };
  EXPECT_FALSE(undo(failing, own, notes));
  EXPECT_EQ(disk.journals.size(), 1u);
  windows.running.clear();
  const auto said = recover(failing);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said.front().find("cannot be written"), std::string::npos);
  EXPECT_TRUE(recover(calls).empty());
  EXPECT_EQ(disk, before);
}

TEST_F(AclGrants, AJournalNobodyCanReadIsSaidAndLeft) {
  disk.journals["x"] = "{}";
  EXPECT_EQ(recover(calls).size(), 1u);
  EXPECT_EQ(disk.journals.size(), 1u);
}

}  // namespace
}  // namespace harn::run::windows
