// SPDX-License-Identifier: Apache-2.0
// What the attacks aim at: files, sockets, a pipe and a process outside; a directory inside. It is put
// back before every attack and removed at the end, so nothing is left in the project.
#pragma once

#include <memory>

#include "doctor/attacks/targets.h"
#include "harn/doctor.h"
#include "sys/own_directory.h"
#include "sys/unique_fd.h"

namespace harn::doctor {

class AttackGround {
 public:
  // `rules` are those of the request's policy.
  static Result<std::unique_ptr<AttackGround>> make(const SuiteRequest& request, const PathRules& rules);
  AttackGround(const AttackGround&) = delete;
  AttackGround& operator=(const AttackGround&) = delete;
  ~AttackGround();

  const Targets& targets() const { return targets_; }
  // The caller's variables, with one that looks secret and one that does not.
  std::map<std::string, std::string> environment() const;

  // As before the first attack.
  void reset();

  // What has happened since.
  bool is_there(std::string_view target) const;
  bool victim_changed() const;
  bool victim_mode_changed() const;
  bool victim_is_old() const;
  bool port_was_reached() const { return accepts(tcp_.get()); }
  bool datagram_arrived() const;
  bool abstract_was_reached() const { return accepts(abstract_.get()); }
  bool named_was_reached() const { return accepts(named_.get()); }
  bool somebody_lingers() const;

 private:
  AttackGround() = default;
  static bool accepts(int listener);
  AbsPath at(std::string_view target) const { return AbsPath::of(targets_.text(target)); }
  Status make_outside(const SuiteRequest& request, const PathRules& rules);
  void make_inside(const SuiteRequest& request, const PathRules& rules);
  void open_sockets();
  void find_existing(const SuiteRequest& request, const PathRules& rules);

  Targets targets_ = {};
  std::map<std::string, std::string> environment_ = {};
  std::optional<sys::OwnDirectory> outside_ = {};
  std::optional<sys::OwnDirectory> inside_ = {};  // unset where nothing is writable
  sys::UniqueFd tcp_ = {};
  sys::UniqueFd udp_ = {};
  sys::UniqueFd abstract_ = {};
  sys::UniqueFd named_ = {};
  sys::UniqueFd pipe_ = {};
  int segment_ = -1;
};

}  // namespace harn::doctor
