// SPDX-License-Identifier: Apache-2.0
// Somebody inside swaps directories and files for links while the host works: nothing outside is read,
// written or removed, whatever the moment.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "harn/files.h"
#include "harn/probe.h"
#include "support/cases.h"
#include "support/temp_dir.h"
#include "sys/files.h"

namespace harn {
namespace {

using test::TempDir;

class Swapper {
 public:
  // Exchanges the name in the directory between what it is and a link to `target`, until destroyed. On a
  // descriptor: who is inside cannot reach through a link of his either.
  Swapper(const TempDir& temp, std::string_view directory, std::string name, std::string_view target)
      : directory_(*sys::open_directory(temp.path(directory))), name_(std::move(name)), link_(name_ + ".link") {
    temp.link(std::string(directory) + "/" + link_, target);
    thread_ = std::thread([this] { run(); });
  }
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;
  ~Swapper() {
    done_ = true;
    thread_.join();
  }
  long swaps() const { return swaps_; }

 private:
  void run() {
    while (!done_) {
      if (::renameat2(directory_.get(), name_.c_str(), directory_.get(), link_.c_str(), RENAME_EXCHANGE) == 0) ++swaps_;
    }
  }

  sys::UniqueFd directory_;
  std::string name_;
  std::string link_;
  std::atomic<bool> done_ = false;
  std::atomic<long> swaps_ = 0;
  std::thread thread_ = {};
};

TEST(FileRaces, NothingOutsideIsEverTouched) {
  const TempDir temp;
  temp.file("w/d/f", "inside");
  temp.file("w/d/keep", "inside");
  temp.file("outside/f", "outside");
  temp.file("outside/keep", "outside");
  Policy policy;
  policy.workspace_roots = {temp.path("w")};
  auto facts = probe_host({.environment = {{"HOME", temp.path("home").text()}}, .cwd = temp.path("w")});
  (void)look_at_paths(facts, policy);
  const auto files = *FileScope::open(policy, facts);

  long inside = 0;
  long refused = 0;
  long swapped = 0;
  {
    const Swapper names(temp, "w/d", "f", temp.path("outside/f").text());
    const Swapper directories(temp, "w", "d", "../outside");
    for (int i = 0; i < test::cases_of(100'000); ++i) {
      switch (i % 5) {
        case 0: {
          const auto text = files.read_text("d/f");
          ASSERT_TRUE(!text || *text != "outside");
          (text ? inside : refused)++;
          break;
        }
        case 1: (files.write_text("d/f", "inside") ? inside : refused)++; break;
        case 2: (files.write_text("d/new/deep", "inside") ? inside : refused)++; break;
        case 3: (files.remove_tree("d/new") ? inside : refused)++; break;
        default: {
          const auto names_in = files.list("d");
          (names_in ? inside : refused)++;
        }
      }
    }
    swapped = directories.swaps();
  }
  // Otherwise there was no race.
  EXPECT_GT(inside, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(swapped, 100);
  std::ifstream kept(temp.path("outside/f").text());
  std::string text;
  kept >> text;
  EXPECT_EQ(text, "outside");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(temp.path("outside").text()), {}), 2);
}

}  // namespace
}  // namespace harn
