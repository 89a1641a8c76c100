// SPDX-License-Identifier: Apache-2.0
#include "run/prepare_supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string>

#include "plan/syscalls/syscall_tables.h"
#include "run/supervisor/protocol.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr int first_free_fd = 10;                 // away from the numbers the supervisor uses
constexpr std::uint64_t wait_killable = 1u << 5;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19

auto failed(std::string_view call) { return fail(sys::os_failure(call, "for the supervisor", errno, Stage::prepare)); }

Result<sys::UniqueFd> moved(sys::UniqueFd fd) {
  sys::UniqueFd away(::fcntl(fd.get(), F_DUPFD_CLOEXEC, first_free_fd));
  if (!away) return failed("fcntl");
  return away;
}

supervisor::Allowed allowed(const SupervisedPath& rule) {
  if (rule.access == Access::none) return supervisor::Allowed::nothing;
  if (rule.access == Access::read) return supervisor::Allowed::reading;
  return rule.device ? supervisor::Allowed::writing : supervisor::Allowed::changing;
}

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Result<std::string> block_of(const SupervisorPlan& plan) {
  std::string rows;
  for (const auto& rule : plan.rules) {
    const auto& path = rule.path.text();
    if (path.size() > std::numeric_limits<std::uint16_t>::max())
      return fail(Error{.code = ErrorCode::not_supported,
                        .stage = Stage::prepare,
                        .message = "a path of the plan is too long",
                        .hint = "use a shorter path"});
    append(rows, supervisor::RuleHead{.length = static_cast<std::uint16_t>(path.size()), .allowed = allowed(rule)});
    rows += path;
  }
  std::string block;
  append(block,
         supervisor::RulesHeader{.bytes = static_cast<std::uint32_t>(rows.size()), .count = static_cast<std::uint32_t>(plan.rules.size())});
  return block + rows;
}

// A rule that both asks the supervisor and names an error wants that answer and nothing else.
Result<std::string> duties_of(const SupervisorPlan& plan, const SyscallFilter& filter, const RelayReach& relay) {
  const auto architecture = plan::find_architecture(filter.arch);
  const auto number = [&](const std::string& name) -> Result<std::uint32_t> {
    if (const auto found = architecture ? plan::find_syscall(name, *architecture) : std::nullopt) return *found;
    return fail(Error{.code = ErrorCode::not_supported, .stage = Stage::prepare, .message = "there is no system call '" + name + "' here"});
  };
  supervisor::Duties duties{.decides = plan.decides ? 1u : 0u,
                            .reads = plan.decides && plan.reads ? 1u : 0u,
                            .tells = plan.explains ? 1u : 0u,
                            .records = plan.records ? 1u : 0u,
                            .asks = plan.asks ? 1u : 0u,
                            .abstract_names = plan.abstract_names ? 1u : 0u,
                            .stream_port = relay.stream_port,
                            .resolver_port = relay.resolver_port,
                            .announcements = plan.explains ? supervisor::tell_fd + 1 : supervisor::tell_fd};
  std::string rows;
  for (const auto& rule : filter.rules) {
    if (rule.action != SyscallAction::notify || rule.error == 0) continue;
    for (const auto& name : rule.names) {
      HARN_TRY(call, number(name));
      append(rows, supervisor::RefusedCall{.number = call, .error = rule.error});
      ++duties.refused;
    }
  }
  for (const auto& name : plan.looks_at) {
    HARN_TRY(call, number(name));
    append(rows, call);
    ++duties.looked_at;
  }
  std::string sockets;
  for (const auto& socket : plan.sockets) sockets.append(socket.text()).push_back('\0');
  duties.sockets = static_cast<std::uint32_t>(sockets.size());
  std::string out;
  append(out, duties);
  return out + rows + sockets;
}

struct Pair {
  sys::UniqueFd first = {};
  sys::UniqueFd second = {};
};
Result<Pair> make_pair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return failed("socketpair");
  sys::UniqueFd one(ends[0]);
  sys::UniqueFd other(ends[1]);
  HARN_TRY(first, moved(std::move(one)));
  HARN_TRY(second, moved(std::move(other)));
  return Pair{.first = std::move(first), .second = std::move(second)};
}

}  // namespace

Result<SupervisorGifts> make_gifts(const SupervisorPlan& plan, const SyscallFilter& filter, const RelayReach& relay) {
  HARN_TRY(post, make_pair());
  Pair tell;
  if (plan.explains) {
    HARN_TRY(made, make_pair());
    tell = std::move(made);
  }
  HARN_TRY(duties, duties_of(plan, filter, relay));
  HARN_TRY(rows, block_of(plan));
  const auto block = duties + rows;
  sys::UniqueFd file(::memfd_create("harn-rules", MFD_CLOEXEC));
  if (!file) return failed("memfd_create");
  if (::write(file.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size())) return failed("write");
  HARN_TRY(rules, moved(std::move(file)));
  return SupervisorGifts{.post = std::move(post.first),
                         .letterbox = std::move(post.second),
                         .rules = std::move(rules),
                         .tell = std::move(tell.first),
                         .refusals = std::move(tell.second)};
}

LandlockPlan supervisor_rules(LandlockPlan plan, bool terminal) {
  if (terminal) {
    LandlockRule console{.path = AbsPath::of("/dev/console"), .access = {"read_file", "write_file"}, .note = "the terminal"};
    if (std::ranges::find(plan.handled_fs, "ioctl_dev") != plan.handled_fs.end()) console.access.emplace_back("ioctl_dev");
    plan.rules.push_back(std::move(console));
  }
  plan.rules.push_back({.path = AbsPath::of("/proc"), .access = {"read_file", "read_dir"}, .note = "the supervisor's own"});
  return plan;
}

// Without a program to load, the kernel complains about the flags first.
std::uint64_t listener_flags() {
  constexpr std::uint64_t both = SECCOMP_FILTER_FLAG_NEW_LISTENER | wait_killable;
  const long answer = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, both, nullptr);
  return answer < 0 && errno == EINVAL ? SECCOMP_FILTER_FLAG_NEW_LISTENER : both;
}

}  // namespace harn::run
