// SPDX-License-Identifier: Apache-2.0
#include "plan/windows/acl_list.h"

#include <algorithm>
#include <tuple>

#include "plan/linux/ancestors.h"
#include "policy/names.h"

namespace harn::plan {
namespace {

class Builder {
 public:
  explicit Builder(const PlanInput& input) : input_(input) {}

  AclList build() && {
    for (const auto& rule : input_.rules.rules()) add(rule);
    add_sockets();
    // Where inheritance stops, that comes before what is granted there.
    std::sort(out_.grants.begin(), out_.grants.end(), [](const AclGrant& a, const AclGrant& b) {
      return std::tie(a.path, b.stops_inheritance, b.modify) < std::tie(b.path, a.stops_inheritance, a.modify);
    });
    return std::move(out_);
  }

 private:
  void add(const PathRule& rule) {
    const auto* found = around_.enclosing(rule.path);
    const auto above = found == nullptr ? Access::none : *found;
    // Deleting is part of Modify and of nothing less: without writing, nothing can be deleted either.
    const auto access = rule.access == Access::write && !input_.rules.writes_allowed() ? Access::read : rule.access;
    if (access == above) return;
    if (rule.kind == PathKind::missing) {
      if (access < above && above == Access::write) out_.unguarded_names.push_back(rule.path);
      if (access < above && access == Access::none) out_.unhidden_names.push_back(rule.path);
      return;
    }
    const bool inherit = rule.kind == PathKind::directory;
    const std::string note(base::enum_name(rule.origin));
    if (access < above) {
      out_.grants.push_back({.path = rule.path, .modify = false, .inherit = inherit, .stops_inheritance = true, .note = note});
      if (above == Access::write && rule.path.parent() != around_.place()) out_.movable.push_back(rule.path);
    }
    if (access != Access::none)
      out_.grants.push_back(
          {.path = rule.path, .modify = access == Access::write, .inherit = inherit, .stops_inheritance = false, .note = note});
    around_.enter(rule.path, access);
  }

  // Connecting needs to write to the socket's file.
  void add_sockets() {
    for (const auto& socket : entries(input_.policy.process_sandbox.unix_sockets))
      if (input_.facts.exists(socket.path))
        out_.grants.push_back({.path = socket.path, .modify = true, .inherit = false, .stops_inheritance = false, .note = "unix socket"});
  }

  const PlanInput& input_;
  AclList out_ = {};
  Ancestors<Access> around_ = {};
};

}  // namespace

AclList acl_list(const PlanInput& input) { return Builder(input).build(); }

}  // namespace harn::plan
