// SPDX-License-Identifier: Apache-2.0
#include "run/windows/os/supervise.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace harn::run::windows {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds look_again(50);      // at messages and accounts
constexpr milliseconds drain(5000);         // for output after the last process is gone
constexpr milliseconds last_breath(10000);  // for processes that were told to end
constexpr std::uint64_t ticks_per_millisecond = 10'000;
constexpr int killed = -9;
constexpr int out_of_processor_time = -24;

enum class Why : std::uint8_t {
  ended,
  deadline,
  stopped,
  memory,
  processor
};

struct Accounts {
  std::uint64_t user_ticks = 0;
  std::uint64_t all_ticks = 0;
  std::uint64_t active = 0;
};

Accounts accounts_of(HANDLE job) {
  JOBOBJECT_BASIC_ACCOUNTING_INFORMATION facts = {};
  if (::QueryInformationJobObject(job, JobObjectBasicAccountingInformation, &facts, sizeof facts, nullptr) == 0) return {};
  const auto user = static_cast<std::uint64_t>(facts.TotalUserTime.QuadPart);
  return {
      .user_ticks = user, .all_ticks = user + static_cast<std::uint64_t>(facts.TotalKernelTime.QuadPart), .active = facts.ActiveProcesses};
}

// What the job says while the command runs. Messages may get lost, so nothing but reporting depends on those that count.
class JobMessages {
 public:
  Status listen(HANDLE job) {
    port_ = UniqueHandle(::CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1));
    if (!port_) return call_failed("CreateIoCompletionPort");
    JOBOBJECT_ASSOCIATE_COMPLETION_PORT facts = {.CompletionKey = nullptr, .CompletionPort = port_.get()};
    if (::SetInformationJobObject(job, JobObjectAssociateCompletionPortInformation, &facts, sizeof facts) == 0)
      return call_failed("SetInformationJobObject", "messages");
    return {};
  }

  void read() {
    DWORD message = 0;
    ULONG_PTR key = 0;
    OVERLAPPED* about = nullptr;
    while (::GetQueuedCompletionStatus(port_.get(), &message, &key, &about, 0) != 0) take(message);
  }

  bool memory_spent = false;
  bool processes_spent = false;
  std::uint64_t most = 1;  // at one time

 private:
  void take(DWORD message) {
    if (message == JOB_OBJECT_MSG_NEW_PROCESS) most = std::max(most, ++alive_);
    if (message == JOB_OBJECT_MSG_EXIT_PROCESS || message == JOB_OBJECT_MSG_ABNORMAL_EXIT_PROCESS) alive_ -= alive_ == 0 ? 0 : 1;
    if (message == JOB_OBJECT_MSG_JOB_MEMORY_LIMIT || message == JOB_OBJECT_MSG_PROCESS_MEMORY_LIMIT) memory_spent = true;
    if (message == JOB_OBJECT_MSG_ACTIVE_PROCESS_LIMIT) processes_spent = true;
  }

  UniqueHandle port_ = {};
  std::uint64_t alive_ = 0;
};

class Watch {
 public:
  Watch(Launched& launched, const SuperviseRequest& request)
      : process_(native(launched.process())), job_(native(launched.job())), request_(request) {}

  JobMessages messages = {};

  Why until_it_ends() {
    if (request_.limits.wall_time_ms) deadline_ = Clock::now() + milliseconds(*request_.limits.wall_time_ms);
    const std::array<HANDLE, 2> waited = {process_, request_.stop};
    const DWORD count = request_.stop == nullptr ? 1 : 2;
    while (true) {
      const auto signalled = ::WaitForMultipleObjects(count, waited.data(), FALSE, static_cast<DWORD>(next_look().count()));
      messages.read();
      if (signalled == WAIT_OBJECT_0) return processor_spent() ? Why::processor : Why::ended;
      if (signalled == WAIT_OBJECT_0 + 1) return Why::stopped;
      if (messages.memory_spent) return Why::memory;
      if (processor_spent()) return Why::processor;
      if (deadline_ && Clock::now() >= *deadline_) return Why::deadline;
    }
  }

  bool processor_spent() const {
    const auto accounts = accounts_of(job_);
    const auto watched = request_.limits.watched.find("cpu_seconds");
    if (watched != request_.limits.watched.end() && accounts.all_ticks >= watched->second * 1000 * ticks_per_millisecond) return true;
    return (request_.job.flags & job::user_time) != 0 && accounts.user_ticks >= request_.job.user_time;
  }

 private:
  milliseconds next_look() const {
    if (!deadline_) return look_again;
    return std::clamp(std::chrono::ceil<milliseconds>(*deadline_ - Clock::now()), milliseconds(0), look_again);
  }

  HANDLE process_;
  HANDLE job_;
  const SuperviseRequest& request_;
  std::optional<Clock::time_point> deadline_ = {};
};

// Whatever is left of the tree, now. Returns how many there were beside the command itself.
std::uint64_t end_tree(const Launched& launched, bool ended, Outcome& outcome) {
  auto* const job = native(launched.job());
  const auto left = accounts_of(job).active;
  ::TerminateJobObject(job, static_cast<UINT>(killed));
  ::WaitForSingleObject(native(launched.process()), static_cast<DWORD>(last_breath.count()));
  const auto until = Clock::now() + last_breath;
  while (accounts_of(job).active != 0 && Clock::now() < until) ::Sleep(1);
  if (const auto still = accounts_of(job).active; still != 0) outcome.error = fmt::format("{} processes of the command do not end", still);
  return ended ? left : left - std::min<std::uint64_t>(left, 1);
}

void settle(Why why, DWORD exit_code, Outcome& outcome) {
  outcome.exit_code = static_cast<int>(exit_code);
  outcome.timed_out = why == Why::deadline || why == Why::processor;
  outcome.cpu_exceeded = why == Why::processor;
  outcome.oom_killed = why == Why::memory;
  outcome.cancelled = why == Why::stopped;
  if (why != Why::ended) outcome.exit_code = why == Why::processor ? out_of_processor_time : killed;
}

Usage usage_of(const Launched& launched, Clock::time_point start, std::uint64_t most) {
  auto* const job = native(launched.job());
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION facts = {};
  ::QueryInformationJobObject(job, JobObjectExtendedLimitInformation, &facts, sizeof facts, nullptr);
  return {.wall_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(Clock::now() - start).count()),
          .cpu_ms = accounts_of(job).all_ticks / ticks_per_millisecond,
          .max_memory_bytes = facts.PeakJobMemoryUsed,
          .processes = most};
}

}  // namespace

Result<Outcome> supervise(Launched& launched, Streams streams, const SuperviseRequest& request) {
  Watch watch(launched, request);
  HARN_OK(watch.messages.listen(native(launched.job())));
  const auto start = Clock::now();
  HARN_OK(launched.resume());
  streams.serve();
  Outcome outcome;
  const auto why = watch.until_it_ends();
  outcome.killed_processes = end_tree(launched, why == Why::ended, outcome);
  watch.messages.read();
  DWORD exit_code = 0;
  ::GetExitCodeProcess(native(launched.process()), &exit_code);
  settle(why, exit_code, outcome);
  outcome.processes_exceeded = watch.messages.processes_spent;
  streams.finish(drain, outcome);
  outcome.usage = usage_of(launched, start, watch.messages.most);
  return outcome;
}

}  // namespace harn::run::windows
