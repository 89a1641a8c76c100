// SPDX-License-Identifier: Apache-2.0
// Everything that can be done to a log of 200 events behind its back is noticed.
#include "audit/anchor.h"
#include "audit/line.h"
#include "audit/test_log.h"
#include "base/text.h"
#include "support/cases.h"

namespace harn::audit {
namespace {

using test::problem_of;
using test::put;
using test::text_of;

class Tampering : public testing::Test {
 protected:
  static constexpr int count = 200;
  const std::size_t stride_ = test::fewer_cases() ? 17 : 1;  // every line, every byte

  void SetUp() override {
    test::write_events(*test::log_in(directory_), count);
    text_ = text_of(file_);
    for (std::size_t at = 0; at < text_.size();) {
      const auto end = text_.find('\n', at) + 1;
      lines_.push_back(text_.substr(at, end - at));
      at = end;
    }
    ASSERT_EQ(lines_.size(), static_cast<std::size_t>(count));
    ASSERT_EQ(problem_of(directory_), "");
  }

  std::string joined(const std::vector<std::string>& lines) const {
    std::string out;
    for (const auto& line : lines) out += line;
    return out;
  }

  void expect_noticed(const std::string& text, std::string_view what) const {
    put(file_, text);
    EXPECT_NE(problem_of(directory_), "") << what;
  }

  test::TempDir temp_;
  AbsPath directory_ = temp_.path("audit");
  AbsPath file_ = segment_file(directory_, 1);
  std::string text_;
  std::vector<std::string> lines_;
};

// Reading a log is a fold over its lines that ends at the first that is wrong. So a change in one line
// is tried from the state before it, and every byte can have its turn; the files themselves are read with
// every 997th.
TEST_F(Tampering, EveryChangedByteIsNoticed) {
  Head head;
  std::size_t offset = 0;
  for (const auto& line : lines_) {
    for (std::size_t i = 0; i < line.size(); i += stride_) {
      auto changed = line;
      changed[i] = static_cast<char>(changed[i] ^ (1 << ((offset + i) % 8)));
      // A newline may come or go: then these are two lines, or one with the next.
      auto state = head;
      bool noticed = changed.back() != '\n';
      for (const auto part : base::split(std::string_view(changed).substr(0, changed.size() - 1), '\n')) {
        const auto record = parse_line(part);
        noticed = noticed || !record || !follow(state, *record);
      }
      ASSERT_TRUE(noticed) << "byte " << i << " of " << line;
      if ((offset + i) % (997 * stride_) != 0) continue;
      auto whole = text_;
      whole[offset + i] = changed[i];
      expect_noticed(whole, "changed byte");
    }
    offset += line.size();
    const auto record = parse_line(std::string_view(line).substr(0, line.size() - 1));
    ASSERT_TRUE(record && follow(head, *record));
  }
}

TEST_F(Tampering, EveryDeletedLineIsNoticed) {
  for (std::size_t i = 0; i < lines_.size(); i += stride_) {
    auto lines = lines_;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
    expect_noticed(joined(lines), "deleted line");
  }
}

TEST_F(Tampering, EverySwapOfNeighboursAndManyOthersAreNoticed) {
  for (std::size_t i = 0; i + 1 < lines_.size(); i += stride_)
    for (const auto j : {i + 1, (i * 7 + 3) % lines_.size()}) {
      if (i == j) continue;
      auto lines = lines_;
      std::swap(lines[i], lines[j]);
      expect_noticed(joined(lines), "swapped lines");
    }
}

// Also a line that is right in itself and continues the chain: the end is anchored.
TEST_F(Tampering, EveryInsertedLineIsNoticed) {
  for (std::size_t i = 0; i <= lines_.size(); i += stride_) {
    Head head;
    if (i > 0) {
      const auto before = *parse_line(base::trim(lines_[i - 1]));
      head = {.count = before.seq, .hash = before.hash};
    }
    const auto forged = make_line(head, test::started(0), "run-1", "2026-01-01T00:00:00.000000Z") + "\n";
    for (const auto& added : {forged, lines_[i == 0 ? 0 : i - 1]}) {
      auto lines = lines_;
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), added);
      expect_noticed(joined(lines), "inserted line");
    }
  }
}

TEST_F(Tampering, EveryTruncationIsNoticed) {
  for (std::size_t i = 0; i < lines_.size(); i += stride_) {
    expect_noticed(joined({lines_.begin() + static_cast<std::ptrdiff_t>(i) + 1, lines_.end()}), "cut at the head");
    expect_noticed(joined({lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(i)}), "cut at the tail");
  }
  for (std::size_t i = 1; i < lines_.back().size(); i += stride_) expect_noticed(text_.substr(0, text_.size() - i), "cut in the last line");
}

TEST_F(Tampering, AForgedTailThatRehashesEverythingIsNoticed) {
  Head head;
  std::string text;
  for (int i = 0; i < count; ++i) text += make_line(head, test::started(i + 1), "run-1", "2026-01-01T00:00:00.000000Z") + "\n";
  expect_noticed(text, "forged log");
}

TEST_F(Tampering, FilesThatAreGoneAreNoticed) {
  std::filesystem::remove(file_.text());
  EXPECT_NE(problem_of(directory_), "");
  put(file_, text_);
  EXPECT_EQ(problem_of(directory_), "");
  std::filesystem::remove(anchor_file(directory_).text());
  EXPECT_EQ(problem_of(directory_), "the anchor is gone");
  std::filesystem::remove(file_.text());
  EXPECT_NE(problem_of(directory_).find("error: there is no audit log"), std::string::npos);
}

// Without a key anybody can make an anchor; what was noted outside still tells.
TEST_F(Tampering, ALogRolledBackWithItsAnchorIsNoticedByWhatWasNotedBefore) {
  const auto report = *verify_audit_log(directory_);
  const auto noted = fmt::format("{}:{}", report.last_seq, report.last_hash);
  EXPECT_EQ(problem_of(directory_, {.expected = noted}), "");
  const auto other = temp_.path("other");
  test::write_events(*test::log_in(other), 10);
  EXPECT_EQ(problem_of(other), "");
  EXPECT_NE(problem_of(other, {.expected = noted}), "");
  EXPECT_NE(problem_of(other, {.expected = "nonsense"}).find("does not name an event"), std::string::npos);
}

TEST_F(Tampering, ASwappedAnchorIsNoticedByItsSeal) {
  const auto key = test::log_in(directory_)->start_sealing(false);
  ASSERT_TRUE(key);
  test::write_events(*test::log_in(directory_), 5);
  const auto sealed = *verify_audit_log(directory_);
  EXPECT_EQ(sealed.problem, "");
  EXPECT_EQ(sealed.sealed_by, *key);

  // A whole log of the forger's own, with an anchor that fits it, then with other halves of the truth.
  const auto forged = temp_.path("forged");
  test::write_events(*test::log_in(forged), 10);
  EXPECT_EQ(problem_of(forged, {.public_key = *key}), "the anchor is not sealed, but the log says that it is");
  ASSERT_TRUE(test::log_in(forged)->start_sealing(false));
  EXPECT_EQ(problem_of(forged), "");
  EXPECT_EQ(problem_of(forged, {.public_key = *key}), "the seal of the anchor is wrong");

  const auto anchor = text_of(anchor_file(directory_));
  const auto log = text_of(file_);
  auto slot = *parse_slot(std::string_view(anchor).substr(0, slot_bytes));
  const auto last = log.rfind('\n', log.size() - 2) + 1;
  const auto shorter = log.substr(0, last);
  const auto before = *parse_line(base::trim(shorter.substr(shorter.rfind('\n', shorter.size() - 2) + 1)));
  slot.end = {.head = {.count = before.seq, .hash = before.hash}, .segment = 1, .size = shorter.size()};
  put(file_, shorter);
  for (const auto& seal : {slot.seal, std::string("-"), std::string(128, '0')}) {
    slot.seal = seal;
    put(anchor_file(directory_), print_slot(slot) + anchor.substr(slot_bytes));
    EXPECT_NE(problem_of(directory_), "") << seal;
  }
  slot.key = "-";
  put(anchor_file(directory_), print_slot(slot) + anchor.substr(slot_bytes));
  EXPECT_NE(problem_of(directory_), "");
}

}  // namespace
}  // namespace harn::audit
