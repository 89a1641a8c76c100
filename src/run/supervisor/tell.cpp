// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor/tell.h"

#include <fcntl.h>
#include <sys/socket.h>

namespace harn::run::supervisor {
namespace {

// FNV-1a
std::uint64_t mix(std::uint64_t hash, std::string_view bytes) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return hash;
}

// "Name:\tsh\n" … "PPid:\t12\n" of one process.
bool look_at_process(std::uint64_t process, ProcessRow& row, std::uint64_t& parent) {
  ShortText path;
  path.add("/proc/").add_number(process).add("/status");
  const Fd file(raw_syscall(SYS_openat, AT_FDCWD, word_of(path.c_str()), O_RDONLY | O_CLOEXEC));
  char text[512];
  const Word got = file ? raw_syscall(SYS_read, file.get(), word_of(text), sizeof text) : -1;
  if (got <= 0) return false;
  const std::string_view all(text, static_cast<std::size_t>(got));
  constexpr std::string_view name = "Name:\t";
  constexpr std::string_view above = "\nPPid:\t";
  const auto at = all.find(above);
  if (!all.starts_with(name) || at == std::string_view::npos) return false;
  row = {.id = static_cast<std::uint32_t>(process)};
  for (std::size_t i = 0; i < sizeof row.name && all[name.size() + i] != '\n'; ++i) row.name[i] = all[name.size() + i];
  return read_number(all.substr(at + above.size()), parent) != 0;
}

// From the caller up to the command, which is our child.
int look_at_processes(const Caller& caller, ProcessRow (&rows)[most_processes]) {
  const auto own = static_cast<std::uint64_t>(raw_syscall(SYS_getpid));
  std::uint64_t process = caller.process();
  int count = 0;
  while (count < most_processes && process > 0 && process != own) {
    std::uint64_t parent = 0;
    if (!look_at_process(process, rows[count], parent)) break;
    ++count;
    process = parent;
  }
  return count;
}

}  // namespace

Wanted wanted_of_call(const seccomp_data& call, int index, bool there) {
  const auto opens = [&](std::uint64_t flags) {
    const bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_TRUNC | O_CREAT)) != 0;
    if (!changes || (there && (flags & O_ACCMODE) == O_RDONLY && (flags & O_TRUNC) == 0)) return Wanted::reading;
    return there || (flags & O_CREAT) == 0 ? Wanted::writing : Wanted::making;
  };
  switch (call.nr) {
    case SYS_openat: return opens(call.args[2]);
    case SYS_unlinkat: return Wanted::removing;
    case SYS_mkdirat:
    case SYS_mknodat:
    case SYS_symlinkat: return Wanted::making;
    case SYS_renameat2: return index == 0 ? Wanted::removing : Wanted::making;
    case SYS_linkat: return index == 0 ? Wanted::writing : Wanted::making;
    case SYS_truncate: return Wanted::writing;
    case SYS_bind: return Wanted::making;
    case SYS_connect:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg: return Wanted::reaching;
#if defined(SYS_renameat)
    case SYS_renameat: return index == 0 ? Wanted::removing : Wanted::making;
#endif
#if defined(SYS_open)
    case SYS_open: return opens(call.args[1]);
    case SYS_creat: return there ? Wanted::writing : Wanted::making;
    case SYS_unlink:
    case SYS_rmdir: return Wanted::removing;
    case SYS_mkdir:
    case SYS_mknod:
    case SYS_symlink: return Wanted::making;
    case SYS_rename: return index == 0 ? Wanted::removing : Wanted::making;
    case SYS_link: return index == 0 ? Wanted::writing : Wanted::making;
#endif
    default: return Wanted::metadata;
  }
}

// The same access fails again and again in some programs; once is enough. A few slots that are forgotten in
// turn suffice: the launcher knows them all.
bool Teller::is_news(const seccomp_data& call, Wanted wanted, std::string_view text, Word error) {
  auto hash = mix(0xcbf29ce484222325u, text);
  hash = (hash ^ static_cast<std::uint64_t>(wanted) ^ (static_cast<std::uint64_t>(call.nr) << 8u)) * 0x100000001b3u;
  if (error == -worked) hash = ~hash;
  if (wanted == Wanted::calling) hash ^= call.args[0] * 31 + call.args[1];
  auto& slot = known_[hash % most_known];
  if (slot == hash) return false;
  slot = hash;
  return true;
}

void Teller::tell(const Caller& caller, const seccomp_data& call, Wanted wanted, std::string_view text, Word error) {
  if (text.size() >= longest_path || !is_news(call, wanted, text, error)) return;
  // Who records wants every one; the launcher never waits for us while it reads them.
  if (send(caller, call, {.error = static_cast<std::int32_t>(-error), .wanted = wanted, .lost = lost_}, text, records_ ? 0 : MSG_DONTWAIT))
    lost_ = 0;
  else ++lost_;
}

bool Teller::ask(const Caller& caller, const seccomp_notif& call, Wanted wanted, std::string_view text, Word error) {
  if (text.empty() || text.size() >= longest_path || text.front() != '/') return false;
  return send(caller, call.data, {.error = static_cast<std::int32_t>(-error), .wanted = wanted, .question = call.id}, text, MSG_DONTWAIT);
}

void Teller::withdraw(std::uint64_t question) {
  Refusal refusal{.error = withdrawn, .question = question};
  raw_syscall(SYS_sendto, tell_fd, word_of(&refusal), sizeof refusal, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
}

bool Teller::send(const Caller& caller, const seccomp_data& call, const Refusal& about, std::string_view text, int waiting) const {
  ProcessRow rows[most_processes];
  const int processes = about.error == worked ? 0 : look_at_processes(caller, rows);
  Refusal refusal = about;
  refusal.number = static_cast<std::uint32_t>(call.nr);
  refusal.processes = static_cast<std::uint8_t>(processes);
  refusal.text_size = static_cast<std::uint16_t>(text.size());
  for (int i = 0; i < 3; ++i) refusal.arguments[i] = call.args[i];
  iovec parts[] = {{.iov_base = &refusal, .iov_len = sizeof refusal},
                   {.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()},
                   {.iov_base = rows, .iov_len = static_cast<std::size_t>(processes) * sizeof(ProcessRow)}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 3;
  return raw_syscall(SYS_sendmsg, tell_fd, word_of(&message), waiting | MSG_NOSIGNAL) >= 0;
}

void Teller::record(const Caller& caller, const seccomp_data& call, Wanted wanted, std::string_view text) {
  if (records_ && !text.empty() && text.front() == '/') tell(caller, call, wanted, text, -worked);
}

void Teller::record_paths(const Caller& caller, const seccomp_data& call, const Trace& trace) {
  for (int i = 0; i < trace.count; ++i) record(caller, call, wanted_of_call(call, i, trace.there[i]), trace.paths[i].view());
}

bool Teller::concerns(std::string_view path, Word error) const {
  const bool missing = error == -ENOENT || error == -ENOTDIR || error == -ENXIO;
  const bool refused = error == -EACCES || error == -EPERM || error == -EROFS || error == -EBUSY || error == -EXDEV;
  // What is missing where everything is shown is simply not there.
  return refused || (missing && rules_.at(path) == Allowed::nothing);
}

void Teller::tell_paths(const Caller& caller, const seccomp_data& call, const Trace& trace, Word error) {
  for (int i = 0; i < trace.count; ++i) {
    const auto path = trace.paths[i].view();
    if (concerns(path, error)) tell(caller, call, wanted_of_call(call, i, trace.there[i]), path, error);
  }
}

}  // namespace harn::run::supervisor
