// SPDX-License-Identifier: Apache-2.0
// Somebody with a project and a home who runs harn: the caller of the tests or, when that is root, an
// ordinary user as well. Every test here is played once for each.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "support/temp_dir.h"
#include "sys/unique_fd.h"

namespace harn::test {

enum class Who : std::uint8_t {
  caller,
  nobody  // uid 65534 without groups
};

std::ostream& operator<<(std::ostream& out, Who who);

// Both for root, the caller alone for anybody else.
std::vector<Who> everybody();

struct Finished {
  int exit_code = -1;  // 128+n when killed by signal n; -1 when it had to be killed for taking too long
  std::string out = {};
  std::string err = {};
};

// What a started harn gets; descriptors are borrowed, -1 = /dev/null.
struct Streams {
  int in = -1;
  int out = -1;
  int err = -1;
};

class Person {
 public:
  explicit Person(Who who);

  Who who() const { return who_; }
  const std::string& project() const { return project_; }
  const std::string& home() const { return home_; }
  const std::string& root() const { return temp_.root(); }
  std::map<std::string, std::string>& environment() { return environment_; }

  // A file of this person, below root().
  std::string file(std::string_view relative, std::string_view text) const;

  // From now on this person's harn is started by these words.
  void start_through(std::vector<std::string> words) { through_ = std::move(words); }
  // The words that start harn as this person, in the project.
  std::vector<std::string> harn_words(const std::vector<std::string>& words) const;
  pid_t start(const std::vector<std::string>& words, const Streams& streams = {}) const;
  // Any other program as this person.
  pid_t start_program(const std::vector<std::string>& words, const Streams& streams = {}) const;
  // In a child of the caller's own making.
  [[noreturn]] void become(const std::vector<std::string>& words, const Streams& streams) const;
  // To the end, with both outputs kept.
  Finished harn(const std::vector<std::string>& words, int input = -1) const;
  // harn run -- sh -c TEXT
  Finished sh(const std::string& text) const { return harn({"run", "--", "sh", "-c", text}); }

 private:
  void give(const std::string& path) const;

  Who who_ = Who::caller;
  TempDir temp_ = {};
  std::string project_ = {};
  std::string home_ = {};
  std::string program_ = {};
  std::vector<std::string> through_ = {};
  std::map<std::string, std::string> environment_ = {};
};

// Waits; kills what takes longer than anything here may take. The exit code as in Finished.
int finish(pid_t pid, std::chrono::seconds patience = std::chrono::seconds(60));

std::string read_whole(const std::string& path);

// Both ends of a pipe, closed on exec.
struct Pipe {
  Pipe();
  sys::UniqueFd reader = {};
  sys::UniqueFd writer = {};
};

}  // namespace harn::test
