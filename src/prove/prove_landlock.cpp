// SPDX-License-Identifier: Apache-2.0
// Landlock, ABI by ABI: a ruleset that grants nothing must refuse what that ABI brought. ABI 2, 7 and 8
// only brought more to grant or to ask for, so there is nothing to see refused.
#include <fcntl.h>
#include <linux/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "plan/linux/landlock.h"
#include "prove/mechanisms.h"
#include "prove/outside_listeners.h"
#include "prove/remedies.h"
#include "sys/landlock.h"

namespace harn::prove {
namespace {

constexpr int abi_truncate = 3;
constexpr int abi_tcp = 4;
constexpr int abi_ioctl = 5;
constexpr int abi_scopes = 6;
constexpr int abi_resolve_unix = 9;
constexpr const char* tame_device = "/dev/urandom";

std::uintptr_t word(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

constexpr std::uintptr_t here = static_cast<std::uintptr_t>(AT_FDCWD);

LandlockPlan everything_handled(int abi) {
  LandlockPlan plan{.abi = abi};
  for (const auto& right : plan::landlock_rights())
    if (right.since <= abi) plan.handled_fs.emplace_back(right.name);
  if (abi >= abi_tcp) plan.handled_net = {"bind_tcp", "connect_tcp"};
  if (abi >= abi_scopes) plan.scoped = {"abstract_unix_socket", "signal"};
  // A device that may be opened, so that what is refused is the ioctl.
  if (abi == abi_ioctl) plan.rules = {{.path = AbsPath::of(tame_device), .access = {"read_file"}}};
  return plan;
}

class Rows {
 public:
  explicit Rows(const ProvingGround& ground) : canary_(ground.canary().text()), outside_(ground.root()) {}

  // What the ruleset of this ABI must refuse, as far as it can be tried.
  std::vector<run::Trial> of(int abi) const {
    switch (abi) {
      case 1: return provable({open_canary("read a file outside", O_RDONLY), open_canary("write a file outside", O_WRONLY)});
      case abi_truncate: return provable({truncate()});
      case abi_tcp: return provable({outside_.connect_tcp(), outside_.bind_tcp()});
      case abi_ioctl: return provable({ioctl()});
      case abi_scopes: return provable({outside_.connect_abstract(), signal()});
      case abi_resolve_unix: return provable({outside_.connect_named()});
      default: return {};
    }
  }

 private:
  run::Trial open_canary(std::string what, int flags) const {
    return {.what = std::move(what),
            .calls = {{.number = SYS_openat, .arguments = {here, word(canary_.c_str()), static_cast<std::uintptr_t>(flags | O_CLOEXEC)}}}};
  }
  run::Trial truncate() const {
    return {.what = "empty a file outside", .calls = {{.number = SYS_truncate, .arguments = {word(canary_.c_str()), 0}}}};
  }
  run::Trial ioctl() const {
    return {.what = "control a device",
            .calls = {{.number = SYS_openat, .arguments = {here, word(tame_device), O_RDONLY | O_CLOEXEC}},
                      {.number = SYS_ioctl, .arguments = {run::child::first_answer, RNDGETENTCNT, word(&answer_)}}}};
  }
  run::Trial signal() const {
    return {.what = "signal a process outside", .calls = {{.number = SYS_kill, .arguments = {static_cast<std::uintptr_t>(::getpid()), 0}}}};
  }

  std::string canary_;
  OutsideListeners outside_;
  int answer_ = 0;
};

}  // namespace

Finding prove_landlock(const ProvingGround& ground, LinuxFacts& facts) {
  Finding finding{.mechanism = "landlock"};
  const int claimed = sys::landlock_abi();
  const Rows rows(ground);
  std::vector<std::string> refused;
  Status status;
  int proved = 0;
  for (int abi = 1; abi <= std::min(claimed, plan::newest_landlock_abi) && status; ++abi) {
    auto trials = rows.of(abi);
    for (const auto& trial : trials) refused.push_back(trial.what);
    status = try_layers(ground.bare_plan({.landlock = everything_handled(abi)}), std::move(trials));
    if (status) proved = abi;
  }
  auto alone = facts;
  alone.landlock_abi = proved;
  alone.seccomp = alone.user_namespaces = alone.pid_namespaces = alone.network_namespaces = false;
  if (proved > 0)
    if (auto whole = ground.run_small(alone); !whole) {
      status = std::move(whole);
      proved = 0;
    }
  facts.landlock_abi = proved;
  finding.works = proved > 0;
  if (finding.works) finding.how = fmt::format("ABI {}: a ruleset without rules refused to {}", proved, fmt::join(refused, ", to "));
  if (!status) finding.why_not = status.error().message;
  if (finding.works) return finding;
  if (claimed == 0) finding.why_not = "the kernel does not offer Landlock";
  finding.remedy = landlock_remedy();
  return finding;
}

}  // namespace harn::prove
