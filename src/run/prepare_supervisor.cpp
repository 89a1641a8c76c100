// SPDX-License-Identifier: Apache-2.0
#include "run/prepare_supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>
#include <string>

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

}  // namespace

Result<SupervisorGifts> make_gifts(const SupervisorPlan& plan) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return failed("socketpair");
  sys::UniqueFd first(ends[0]);
  sys::UniqueFd second(ends[1]);
  HARN_TRY(post, moved(std::move(first)));
  HARN_TRY(letterbox, moved(std::move(second)));
  HARN_TRY(block, block_of(plan));
  sys::UniqueFd file(::memfd_create("harn-rules", MFD_CLOEXEC));
  if (!file) return failed("memfd_create");
  if (::write(file.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size())) return failed("write");
  HARN_TRY(rules, moved(std::move(file)));
  return SupervisorGifts{.post = std::move(post), .letterbox = std::move(letterbox), .rules = std::move(rules)};
}

LandlockPlan supervisor_rules(LandlockPlan plan) {
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
