// SPDX-License-Identifier: Apache-2.0
#include "support/landlock_model.h"

#include <algorithm>

namespace harn::test {
namespace {

struct KernelRight {
  std::string_view name;
  int since;
  bool for_files;
};

// include/uapi/linux/landlock.h and the ACCESS_FILE mask of security/landlock/fs.c, kept apart from
// the planner's own table on purpose.
constexpr KernelRight kernel_rights[] = {
    {"execute", 1, true},      {"write_file", 1, true},   {"read_file", 1, true}, {"read_dir", 1, false}, {"remove_dir", 1, false},
    {"remove_file", 1, false}, {"make_char", 1, false},   {"make_dir", 1, false}, {"make_reg", 1, false}, {"make_sock", 1, false},
    {"make_fifo", 1, false},   {"make_block", 1, false},  {"make_sym", 1, false}, {"refer", 2, false},    {"truncate", 3, true},
    {"ioctl_dev", 5, true},    {"resolve_unix", 9, true},
};

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const KernelRight* find_right(std::string_view name) {
  const auto* found = std::ranges::find(kernel_rights, name, &KernelRight::name);
  return found == std::end(kernel_rights) ? nullptr : found;
}

bool is_known_file(const HostFacts& facts, const AbsPath& path) {
  const auto it = facts.paths.find(path.text());
  return it != facts.paths.end() && it->second.kind != PathKind::directory && it->second.kind != PathKind::missing;
}

std::string fault_of(const LandlockPlan& plan, const std::string& name) {
  const auto* right = find_right(name);
  if (right == nullptr) return "unknown right " + name;
  if (right->since > plan.abi) return name + " is newer than the ABI";
  return has(plan.handled_fs, name) ? "" : name + " is not handled";
}

}  // namespace

bool landlock_grants(const LandlockPlan& plan, const AbsPath& path, std::string_view right) {
  // ABI 1 knows no refer and refuses what it would allow; every other unhandled right is free.
  if (right == "refer" && plan.abi < 2) return false;
  if (!has(plan.handled_fs, right)) return true;
  return std::ranges::any_of(plan.rules, [&](const LandlockRule& rule) { return rule.path.contains(path) && has(rule.access, right); });
}

bool landlock_allows(const LandlockPlan& plan, const AbsPath& path, FileOp op) {
  switch (op) {
    case FileOp::read: return landlock_grants(plan, path, "read_file");
    case FileOp::list: return landlock_grants(plan, path, "read_dir");
    case FileOp::execute: return landlock_grants(plan, path, "execute");
    case FileOp::write: return landlock_grants(plan, path, "write_file") && landlock_grants(plan, path, "truncate");
    case FileOp::remove: return landlock_grants(plan, path.parent(), "remove_file") && landlock_grants(plan, path.parent(), "remove_dir");
  }
  return false;
}

bool landlock_allows_port(const LandlockPlan& plan, std::uint16_t port, std::string_view right) {
  if (!has(plan.handled_net, right)) return true;
  return std::ranges::any_of(plan.ports, [&](const LandlockPortRule& rule) { return rule.port == port && has(rule.access, right); });
}

std::vector<std::string> landlock_faults(const LandlockPlan& plan, const HostFacts& facts) {
  std::vector<std::string> faults;
  for (const auto& name : plan.handled_fs)
    if (auto fault = fault_of(plan, name); !fault.empty()) faults.push_back(std::move(fault));
  for (const auto& rule : plan.rules) {
    if (rule.access.empty()) faults.push_back("empty rule for " + rule.path.text());
    for (const auto& name : rule.access) {
      if (auto fault = fault_of(plan, name); !fault.empty()) faults.push_back(rule.path.text() + ": " + fault);
      const auto* right = find_right(name);
      if (right != nullptr && !right->for_files && is_known_file(facts, rule.path))
        faults.push_back(rule.path.text() + ": " + name + " on a file");
    }
  }
  if (!plan.handled_net.empty() && plan.abi < 4) faults.emplace_back("TCP before ABI 4");
  if (!plan.scoped.empty() && plan.abi < 6) faults.emplace_back("scopes before ABI 6");
  return faults;
}

}  // namespace harn::test
