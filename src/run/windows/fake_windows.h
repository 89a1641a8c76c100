// SPDX-License-Identifier: Apache-2.0
// A small Windows for tests: files whose lists are inherited as NTFS does, containers, jobs and processes that only exist on
// paper. Records every call; can fail one of them, lie in one of them, or stop existing after one of them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "run/windows/calls.h"
#include "run/windows/sddl.h"

namespace harn::run::windows {

// What stays when a process dies.
struct FakeDisk {
  std::map<AbsPath, Dacl> own = {};  // entries of the object itself; what is inherited is computed
  std::set<std::string> containers = {};
  std::map<std::string, std::string> journals = {};

  bool operator==(const FakeDisk&) const = default;

  void add(std::string_view path, std::string_view sddl = "D:AI");
  Dacl effective(const AbsPath& path) const;
};

struct FakeProcess {
  SpawnRequest request = {};
  bool resumed = false;
  bool ended = false;
};

class FakeWindows {
 public:
  explicit FakeWindows(FakeDisk& disk) : disk_(disk) {}
  Calls calls();

  std::vector<std::string> log = {};  // names of calls, some with what they were about
  std::size_t fail_at = 0;            // the n-th call that can fail does; 0 = none
  std::size_t die_at = 0;             // from the n-th call on nothing has any effect
  std::size_t counted = 0;
  std::function<void()> after_write = {};
  std::function<AbsPath(const AbsPath&)> leads = [](const AbsPath& path) { return path; };  // through links somebody made
  std::map<AbsPath, std::string> replaced = {};                                             // identities of other objects at a path
  std::map<Handle, FakeProcess> processes = {};
  std::map<Handle, JobSettings> jobs = {};
  std::set<Handle> open = {};
  std::set<std::uint64_t> running = {};  // ids of owners
  std::vector<std::string> capabilities_lie = {};

  bool any_ran() const;
  bool any_alive() const;
  std::size_t position(std::string_view entry) const;  // in the log; its size when it is not there

  static std::string sid_of(const std::string& name);

 private:
  Status step(std::string entry);
  Handle make_handle();

  void fill_containers(Calls& calls);
  void fill_lists(Calls& calls);
  void fill_journals(Calls& calls);
  void fill_jobs(Calls& calls);
  void fill_processes(Calls& calls);

  FakeDisk& disk_;
  Handle next_ = 100;
};

}  // namespace harn::run::windows
