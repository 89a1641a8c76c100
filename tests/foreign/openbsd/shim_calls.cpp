// SPDX-License-Identifier: Apache-2.0
// The two calls themselves: what is remembered, what is refused, and what survives exec.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>

#include "foreign/openbsd/calls.h"
#include "foreign/openbsd/shim.h"

namespace {

using harn::shim::Entry;
using Promises = std::set<std::string>;

// Where a process finds what it was started with: exec keeps descriptors, and nothing else of ours.
constexpr int inherited_fd = 987;

const Promises known = {"chown", "cpath", "dns",       "dpath",  "error", "exec",  "fattr",  "flock", "getpw", "id",   "inet",   "mcast",
                        "proc",  "ps",    "prot_exec", "recvfd", "route", "rpath", "sendfd", "stdio", "tty",   "unix", "unveil", "wpath"};

struct State {
  std::vector<Entry> unveiled = {};
  bool locked = false;
  std::optional<Promises> promises = {};  // unset = everything
  bool read_inherited = false;
};

State& state() {
  static State the_state;
  if (!the_state.read_inherited) {
    the_state.read_inherited = true;
    char text[1024] = {};
    const auto got = ::pread(inherited_fd, text, sizeof text - 1, 0);
    std::istringstream words(got > 0 ? text : "");
    std::string word;
    if (words >> word && word == "pledged") {
      the_state.promises.emplace(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
      the_state.locked = true;  // it only survives together
    }
  }
  return the_state;
}

int fails(int error) {
  errno = error;
  return -1;
}

std::optional<Promises> parsed(const char* text) {
  std::istringstream words(text);
  Promises out{std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
  if (!std::ranges::all_of(out, [](const std::string& word) { return known.contains(word); })) return std::nullopt;
  return out;
}

bool within(const Promises& asked, const Promises& had) { return std::ranges::includes(had, asked); }

void hand_on(const Promises& promises) {
  const int fd = ::memfd_create("pledged", 0);
  if (fd < 0) ::abort();
  std::string text = "pledged";
  for (const auto& promise : promises) text += " " + promise;
  if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()) || ::dup2(fd, inherited_fd) < 0) ::abort();
  ::close(fd);
}

// Tests make a call fail, always (HARN_SHIM_FAIL=unveil, lock or pledge) or where a path was unveiled (lock:/path).
bool told_to_fail(const std::string& call) {
  const char* text = ::getenv("HARN_SHIM_FAIL");
  if (text == nullptr) return false;
  return call == text || std::ranges::any_of(state().unveiled, [&](const Entry& entry) { return call + ":" + entry.path == text; });
}

}  // namespace

extern "C" int unveil(const char* path, const char* permissions) {
  auto& now = state();
  if (told_to_fail(path == nullptr ? "lock" : "unveil")) return fails(EPERM);
  if (now.locked) return fails(EPERM);
  if (path == nullptr && permissions == nullptr) {
    now.locked = true;
    const int error = harn::shim::show_only(now.unveiled);
    return error == 0 ? 0 : fails(error);
  }
  if (path == nullptr || permissions == nullptr) return fails(EINVAL);
  if (std::string(permissions).find_first_not_of("rwxc") != std::string::npos) return fails(EINVAL);
  std::string whole = path;
  if (whole.empty()) return fails(ENOENT);
  if (whole[0] != '/') {
    char cwd[PATH_MAX];
    if (::getcwd(cwd, sizeof cwd) == nullptr) return fails(errno);
    whole = std::string(cwd) + "/" + whole;
  }
  // The last name need not exist, but the directory it would stand in must.
  struct stat seen = {};
  const auto parent = whole.substr(0, std::max<std::size_t>(whole.rfind('/'), 1));
  if (::stat(parent.c_str(), &seen) != 0) return fails(errno);
  std::erase_if(now.unveiled, [&](const Entry& entry) { return entry.path == whole; });
  now.unveiled.push_back({whole, permissions});
  return 0;
}

extern "C" int pledge(const char* promises, const char* execpromises) {
  auto& now = state();
  if (told_to_fail("pledge")) return fails(EPERM);
  std::optional<Promises> mine;
  std::optional<Promises> theirs;
  if (promises != nullptr && !(mine = parsed(promises))) return fails(EINVAL);
  if (execpromises != nullptr && !(theirs = parsed(execpromises))) return fails(EINVAL);
  if (mine && now.promises && !within(*mine, *now.promises)) {
    if (!now.promises->contains("error")) return fails(EPERM);
    Promises common;
    std::ranges::set_intersection(*mine, *now.promises, std::inserter(common, common.end()));
    mine = std::move(common);
  }
  // What was unveiled would be dropped at exec; a mount namespace cannot be, so nobody may rely on what this shows.
  if (now.locked && !now.unveiled.empty() && mine && !theirs) return fails(ENOTSUP);
  if (mine) now.promises = mine;
  if (theirs) hand_on(*theirs);
  const auto& kept = theirs ? theirs : mine;
  if (!kept) return 0;
  const int error = harn::shim::keep_to(*kept);
  return error == 0 ? 0 : fails(error);
}
