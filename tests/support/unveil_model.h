// SPDX-License-Identifier: Apache-2.0
// What OpenBSD's kernel makes of a list of unveils and two lists of promises once the command has
// been executed: the list survives exec only with execpromises, and the nearest entry decides.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "harn/plan.h"
#include "support/path_verdict.h"

namespace harn::test {

class UnveilModel {
 public:
  // Nothing when the kernel would refuse a call: an unknown letter or promise, a table that is full,
  // a name in a directory that does not exist.
  static std::optional<UnveilModel> load(const PledgeUnveil& plan, const HostFacts& facts);

  PathVerdict at(const AbsPath& path) const;
  bool executes(const AbsPath& path) const;
  bool reaches_hosts() const { return promised("inet"); }
  bool connects_to(const AbsPath& socket) const;
  bool lists_processes() const { return promised("ps"); }

 private:
  bool promised(const std::string& name) const { return !confined_ || promises_.contains(name); }
  const std::string& letters(const AbsPath& path) const;

  bool confined_ = false;
  std::set<std::string> promises_ = {};
  std::map<AbsPath, std::string> entries_ = {};
};

}  // namespace harn::test
