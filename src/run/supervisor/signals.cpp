// SPDX-License-Identifier: Apache-2.0
// Signals where Landlock has no scope for them. Whoever gets one is held first, so that it cannot be somebody else who has the number
// by then; threads of other processes are signalled as the process they are.
#include <fcntl.h>
#include <signal.h>

#include "run/supervisor/calls.h"
#include "run/supervisor/descendants.h"

namespace harn::run::supervisor {
namespace {

constexpr std::size_t info_size = 128;  // siginfo_t, on every architecture

struct Parcel {
  int number = 0;
  bool has_info = false;
  alignas(siginfo_t) char info[info_size] = {};

  Word content() const { return has_info ? word_of(info) : 0; }
};

Word deliver(const Fd& held, const Parcel& parcel) {
  return raw_syscall(SYS_pidfd_send_signal, held.get(), parcel.number, parcel.content(), 0);
}

// The caller waits for us, so its own number is its own.
Word deliver_to_caller(const Request& request, std::uint64_t process, const Parcel& parcel) {
  const Fd held(raw_syscall(SYS_pidfd_open, static_cast<Word>(process), 0));
  if (!held || !request.caller.waits()) return -ESRCH;
  return deliver(held, parcel);
}

Word to_process(const Request& request, std::uint64_t process, const Parcel& parcel) {
  if (process == request.caller.process()) return deliver_to_caller(request, process, parcel);
  Fd held;
  Word result = hold_descendant(process, held);
  if (result == -EPERM) {
    const auto leader = process_of(process);  // the number of a thread means its process
    if (leader != 0 && leader != process) return to_process(request, leader, parcel);
  }
  return result < 0 ? result : deliver(held, parcel);
}

struct Group {
  const Request& request;
  const Parcel& parcel;
  Word group = 0;  // 0 = everybody but the caller
  std::uint64_t caller = 0;
  int reached = 0;
};

bool is_member(const Group& group, std::uint64_t process) {
  if (group.group == 0) return process != group.caller;
  return raw_syscall(SYS_getpgid, static_cast<Word>(process)) == group.group;
}

void to_member(std::uint64_t process, void* given) {
  auto& group = *static_cast<Group*>(given);
  Fd held;
  if (!is_member(group, process) || hold_descendant(process, held) < 0 || !is_member(group, process)) return;
  if (deliver(held, group.parcel) == 0) ++group.reached;
}

Word to_group(const Request& request, Word number, const Parcel& parcel) {
  Group group{.request = request, .parcel = parcel, .caller = request.caller.process()};
  if (number == 0) group.group = raw_syscall(SYS_getpgid, static_cast<Word>(group.caller));
  else if (number != -1) group.group = -number;
  if (group.caller == 0 || group.group < 0 || !request.caller.waits()) return -ESRCH;
  static Found found;
  each_descendant(found, to_member, &group);
  if (group.reached != 0) return 0;
  const bool others = group.group == 0 || raw_syscall(SYS_kill, -group.group, 0) != -ESRCH;
  return others ? -EPERM : -ESRCH;
}

Word to_thread(const Request& request, std::uint64_t process, int thread, const Parcel& parcel) {
  if (thread <= 0) return -EINVAL;
  if (process == 0) process = process_of(static_cast<std::uint64_t>(thread));
  if (process == 0) return -ESRCH;
  if (process != request.caller.process()) return to_process(request, process, parcel);
  if (!request.caller.waits()) return -ESRCH;
  if (!parcel.has_info) return raw_syscall(SYS_tgkill, static_cast<Word>(process), thread, parcel.number);
  return raw_syscall(SYS_rt_tgsigqueueinfo, static_cast<Word>(process), thread, parcel.number, word_of(parcel.info));
}

// "Pid:\t12\n" of what a descriptor of ours stands for; 0 when it is no process, or one that is gone.
std::uint64_t process_behind(int fd) {
  ShortText path;
  path.add("/proc/self/fdinfo/").add_number(static_cast<std::uint64_t>(fd));
  const Fd file(raw_syscall(SYS_openat, AT_FDCWD, word_of(path.c_str()), O_RDONLY | O_CLOEXEC));
  char text[256];
  const Word got = file ? raw_syscall(SYS_read, file.get(), word_of(text), sizeof text) : -1;
  if (got <= 0) return 0;
  const std::string_view all(text, static_cast<std::size_t>(got));
  constexpr std::string_view line = "\nPid:\t";
  const auto at = all.find(line);
  std::uint64_t number = 0;
  if (at != std::string_view::npos) read_number(all.substr(at + line.size()), number);
  return number;
}

Word to_held(const Request& request, int descriptor, unsigned flags, const Parcel& parcel) {
  if (flags != 0) return -EINVAL;
  Fd theirs;
  if (const Word result = request.caller.copy(descriptor, theirs); result < 0) return result;
  const auto process = process_behind(theirs.get());
  if (process == 0) return -EPERM;
  if (process == request.caller.process()) return deliver_to_caller(request, process, parcel);
  Fd held;
  if (const Word result = hold_descendant(process, held); result < 0) return result;
  // Both stand for a process that has this number now, so it is the same.
  return process_behind(theirs.get()) == process ? deliver(held, parcel) : -ESRCH;
}

Word read_info(const Request& request, std::uint64_t from, Parcel& parcel) {
  parcel.has_info = true;
  return request.caller.read(from, parcel.info, info_size);
}

}  // namespace

Word send_signal(const Request& request, const seccomp_data& call) {
  const auto* arguments = call.args;
  const auto number = [&](int index) { return static_cast<int>(arguments[index]); };
  Parcel parcel;
  switch (call.nr) {
    case SYS_kill:
      parcel.number = number(1);
      if (number(0) <= 0) return to_group(request, number(0), parcel);
      return to_process(request, static_cast<std::uint64_t>(number(0)), parcel);
    case SYS_tkill: parcel.number = number(1); return to_thread(request, 0, number(0), parcel);
    case SYS_tgkill:
      parcel.number = number(2);
      return number(0) <= 0 ? -EINVAL : to_thread(request, static_cast<std::uint64_t>(number(0)), number(1), parcel);
    case SYS_rt_sigqueueinfo:
      parcel.number = number(1);
      if (const Word result = read_info(request, arguments[2], parcel); result < 0) return result;
      return number(0) <= 0 ? -EINVAL : to_process(request, static_cast<std::uint64_t>(number(0)), parcel);
    case SYS_rt_tgsigqueueinfo:
      parcel.number = number(2);
      if (const Word result = read_info(request, arguments[3], parcel); result < 0) return result;
      return number(0) <= 0 ? -EINVAL : to_thread(request, static_cast<std::uint64_t>(number(0)), number(1), parcel);
    default:
      parcel.number = number(1);
      if (arguments[2] != 0)
        if (const Word result = read_info(request, arguments[2], parcel); result < 0) return result;
      return to_held(request, number(0), static_cast<unsigned>(arguments[3]), parcel);
  }
}

// Whoever owns a file is signalled by it: nobody but the caller itself, or nobody.
Word set_owner(const Request& request, int descriptor, int command, std::uint64_t argument) {
  f_owner_ex owner = {.type = F_OWNER_PID, .pid = static_cast<int>(argument)};
  if (command == F_SETOWN_EX)
    if (const Word result = request.caller.read(argument, &owner, sizeof owner); result < 0) return result;
  const bool single = owner.type == F_OWNER_PID || owner.type == F_OWNER_TID;
  if (owner.pid != 0 && (!single || owner.pid < 0)) return -EPERM;
  const auto process = request.caller.process();
  if (owner.pid != 0 && (process == 0 || process_of(static_cast<std::uint64_t>(owner.pid)) != process)) return -EPERM;
  Fd copy;
  if (const Word result = request.caller.copy(descriptor, copy); result < 0) return result;
  return raw_syscall(SYS_fcntl, copy.get(), F_SETOWN_EX, word_of(&owner));
}

}  // namespace harn::run::supervisor
