// SPDX-License-Identifier: Apache-2.0
// Judges what became of each case. The probe's own word is one half; the other is taken outside: the
// files there must be untouched and the process there must have noticed nothing.
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "confine/support/case.h"
#include "confine/support/stand.h"
#include "confine/support/ways.h"

namespace harn::confine {
namespace {

bool lists(std::string_view words, std::string_view word) {
  const auto parts = base::split(words, ' ');
  return std::ranges::find(parts, word) != parts.end();
}

bool applies(const Case& row, const Stand& stand) {
  const bool root = stand.uid == 0;
  if (row.control == Control::root && !root) return row.for_everybody && stand.way != Way::unconfined;
  if (row.control == Control::user && root) return false;
  if (stand.way == Way::unconfined) return row.control != Control::none;
  return stand.way < Way::without_view || row.critical;
}

std::string_view layer_missing(Way way) {
  switch (way) {
    case Way::without_view: return "view";
    case Way::without_landlock: return "landlock";
    case Way::without_seccomp: return "seccomp";
    default: return {};
  }
}

// A container lacks devices and groups of the host, and its own filter knows calls by other names: what the row tries is not there
// for anybody, and refused by that.
bool absent_here(const Case& row, std::string_view word) {
  static const bool inside = ::getenv("HARN_INSIDE_CONTAINER") != nullptr;
  constexpr std::string_view rows[] = {"kernel_log", "fuse", "cgroup", "fchmodat2"};
  return inside && (word == "ENOENT" || word == "ENOSYS") && std::ranges::find(rows, row.id) != std::end(rows);
}

class Judge {
 public:
  Judge(const Stand& stand, const Scene& scene, const Told& told) : stand_(stand), scene_(scene), told_(told) {}

  // Empty, or what is wrong.
  std::string judge(const Case& row) {
    const auto found = told_.words.find(row.id);
    if (found == told_.words.end()) return "it never ran";
    const auto& word = found->second;
    if (stand_.way == Way::unconfined) return word == "ok" ? "" : "fails even unconfined: " + word;
    if (const auto layer = layer_missing(stand_.way); !layer.empty()) return judge_lock(row, layer, word);
    if (lists(expected(row), word)) return {};
    if (word == "ok") return judge_excuse(row);
    if (absent_here(row, word)) return {};
    return fmt::format("{} instead of {}", word, expected(row));
  }

  bool excused(const Case& row) const { return excused_.contains(row.id); }

 private:
  std::string expected(const Case& row) const {
    if (stand_.way == Way::view) return std::string(row.view);
    if (stand_.way == Way::old_kernel && !row.old_kernel.empty()) return std::string(row.old_kernel);
    if (stand_.way == Way::unsupervised && !row.unsupervised.empty()) return std::string(row.unsupervised);
    if (stand_.way == Way::bare || stand_.way == Way::old_kernel || stand_.way == Way::unsupervised) return std::string(row.bare);
    if (stand_.way == Way::container) return fmt::format("{} {} {} {}", row.view, row.bare, row.unsupervised, row.container);
    if (stand_.way == Way::bubblewrap) return fmt::format("{} {} {}", row.view, row.bare, row.bubblewrap);
    return fmt::format("{} {} {}", row.view, row.bare, row.unsupervised);
  }

  std::string judge_excuse(const Case& row) {
    const bool coarse =
        stand_.way == Way::bare || stand_.way == Way::old_kernel || stand_.way == Way::unsupervised || stand_.way == Way::container;
    const auto gap = coarse && !row.gap.empty() ? row.gap : row.view_gap;
    const auto path = scene_.fill(row.gap_path.empty() && !row.args.empty() ? row.args[0] : row.gap_path, row.id);
    if (gap.empty()) return "escaped";
    if (!receipt_names(told_.receipt, gap, path)) return fmt::format("escaped, and the receipt does not name {} at {}", gap, path);
    excused_.insert(row.id);
    return {};
  }

  static std::string judge_lock(const Case& row, std::string_view layer, const std::string& word) {
    if (word == "ok" && (lists(row.view, "ok") || lists(row.bare, "ok"))) return {};  // its counter tells
    if (word != "ok" && row.only_lock == layer) return fmt::format("{} is said to be its only lock, and yet: {}", layer, word);
    if (word == "ok" && row.only_lock != layer) return fmt::format("{} was its only lock", layer);
    return {};
  }

  const Stand& stand_;
  const Scene& scene_;
  const Told& told_;
  std::set<std::string_view> excused_ = {};
};

class PromiseTest : public testing::Test {
 public:
  PromiseTest(Promise promise, Stand stand) : promise_(promise), stand_(stand) {}

  void TestBody() override {
    if (const auto missing = missing_here(stand_.way); !missing.empty()) {
      const char* required = ::getenv("HARN_REQUIRE");
      const auto word = missing.substr(0, missing.find(':'));
      if (required != nullptr && std::string_view(required).find(word) != std::string_view::npos) FAIL() << "required here: " << missing;
      GTEST_SKIP() << missing;
    }
    std::vector<Case> cases;
    std::ranges::copy_if(promise_.cases, std::back_inserter(cases), [&](const Case& row) { return applies(row, stand_); });
    judge_all(cases);
  }

 private:
  void judge_all(const std::vector<Case>& cases) {
    Scene scene(stand_.uid, cases);
    std::map<std::string_view, std::string> before;
    for (const auto& row : cases) before[row.id] = scene.fingerprint(row.id);
    const auto extras = promise_.extras != nullptr ? promise_.extras(scene) : Extras{};
    const auto told = run_cases(stand_, scene, cases, extras);
    ASSERT_EQ(told.exit_code, 0) << "the probes did not run to their end";
    auto counts = scene.end_victim();
    Judge judge(stand_, scene, told);
    for (const auto& row : cases) {
      const auto wrong = judge.judge(row);
      if (stand_.way != Way::unconfined && !row.private_to_it.empty()) {
        EXPECT_FALSE(std::filesystem::exists(scene.fill(row.private_to_it, row.id))) << row.id << " made something outside";
      }
      EXPECT_EQ(wrong, "") << row.id;
      const bool open = judge.excused(row) || (stand_.way >= Way::without_view && !row.only_lock.empty());
      if (!row.counter.empty()) judge_counter(row, counts[std::string(row.counter)], open);
      if (stand_.way != Way::unconfined && !open) {
        EXPECT_EQ(scene.fingerprint(row.id), before[row.id]) << row.id << " changed something outside";
      }
    }
  }

  void judge_counter(const Case& row, int count, bool open) const {
    if (stand_.way == Way::unconfined) {
      EXPECT_GT(count, 0) << row.id << ": the process outside noticed nothing, so the case shows nothing";
    } else if (!open) {
      EXPECT_EQ(count, 0) << row.id << ": the process outside noticed";
    }
  }

  Promise promise_;
  Stand stand_;
};

// The rows "| `Suite.id` | layer |" of the threat model are exactly the cases with one lock.
class OnlyLocksTest : public testing::Test {
 public:
  explicit OnlyLocksTest(Promise promise) : promise_(promise) {}

  void TestBody() override {
    std::set<std::string> measured;
    for (const auto& row : promise_.cases)
      if (!row.only_lock.empty()) measured.insert(fmt::format("| `{}.{}` | {} |", promise_.name, row.id, row.only_lock));
    std::set<std::string> written;
    std::ifstream page(HARN_SOURCE_DIR "/docs/threat-model.md");
    for (std::string line; std::getline(page, line);) {
      if (!line.starts_with(fmt::format("| `{}.", promise_.name))) continue;
      const auto second = line.find(" | ");
      written.insert(line.substr(0, line.find(" |", second + 3) + 2));
    }
    EXPECT_EQ(written, measured);
  }

 private:
  Promise promise_;
};

}  // namespace

bool promise(Promise promise) {
  const std::string suite(promise.name);
  const auto ways = stands();
  if (std::ranges::find(ways, Way::without_view, &Stand::way) != ways.end())
    testing::RegisterTest(suite.c_str(), "OnlyLocksAreWrittenDown", nullptr, nullptr, __FILE__, __LINE__,
                          [promise]() -> testing::Test* { return new OnlyLocksTest(promise); });
  for (const auto& stand : ways) {
    if (std::ranges::none_of(promise.cases, [&](const Case& row) { return applies(row, stand); })) continue;
    testing::RegisterTest(suite.c_str(), stand.name().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [promise, stand]() -> testing::Test* { return new PromiseTest(promise, stand); });
  }
  return true;
}

}  // namespace harn::confine
