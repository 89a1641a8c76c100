// SPDX-License-Identifier: Apache-2.0
// A small world around one run: a workspace, a home with secrets, things outside, a process outside.
// Everything belongs to the user the run is for, so that only the sandbox can refuse.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "confine/support/case.h"

namespace harn::confine {

class Scene {
 public:
  Scene(uid_t uid, std::span<const Case> cases);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene();

  uid_t uid() const { return uid_; }
  pid_t victim() const { return victim_; }
  std::string path(std::string_view name) const;  // "work" "home" "shared" "outside" "run" "tools" "temp"

  // One more word that fill() knows.
  void note(const std::string& name, std::string value) { facts_[name] = std::move(value); }

  // {work} and the like replaced.
  std::string fill(std::string_view text, std::string_view id = {}) const;

  // Everything about the things of one case that changes when somebody touches them.
  std::string fingerprint(std::string_view id) const;
  static std::string fingerprint_of(const std::string& path);

  // Ends the process outside and tells what it counted.
  std::map<std::string, int> end_victim();

 private:
  void make_workspace();
  void make_home();
  void make_own(const Case& row);
  void start_victim();
  void own_everything() const;

  uid_t uid_ = 0;
  std::string root_ = {};
  std::string temp_ = {};
  std::map<std::string, std::string> facts_ = {};
  pid_t victim_ = -1;
  int to_victim_ = -1;
  int from_victim_ = -1;
  std::string heard_ = {};
};

}  // namespace harn::confine
