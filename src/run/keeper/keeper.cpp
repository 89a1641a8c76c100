// SPDX-License-Identifier: Apache-2.0
// Pid 1 of a view that is kept: it owns the namespaces of a session, gives every connection a holder, reaps, stops
// everybody when nothing happened for long, and ends with everybody when its time is over. A program of its
// own without libc, like init: a thousand of them must fit, and nothing of whoever started it is in its memory.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "run/child/replay.h"
#include "run/init/first_process.h"
#include "run/init/parcel.h"
#include "run/keeper/letter.h"
#include "run/keeper/shared.h"
#include "run/supervisor/descendants.h"

namespace harn::run::keeper {

namespace {

using init::leave;

constexpr Word sweep_pause_ms = 1;

Shared shared;
supervisor::Found found;
bool sweeping = false;

// A letter that is not as it should be: nothing may run without what it gives up.
void read_template() {
  struct stat status = {};
  if (raw_syscall(SYS_newfstatat, template_fd, word_of(""), word_of(&status), AT_EMPTY_PATH) < 0) leave(init::abandoned_exit);
  const auto size = static_cast<std::uint32_t>(status.st_size);
  const Word mapped = raw_syscall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, template_fd, 0);
  if (is_error(mapped) || size < sizeof(Letter)) leave(init::abandoned_exit);
  auto* bytes = reinterpret_cast<char*>(mapped);
  const auto& head = *reinterpret_cast<const Letter*>(bytes);
  int gifts[most_fds] = {};
  for (unsigned i = 0; i < most_fds; ++i) gifts[i] = first_gift_fd + static_cast<int>(i);
  Reader reader(bytes, size, gifts, most_fds);
  shared.steps = reader.steps(head.before, head.before_count);
  shared.step_count = head.before_count;
  shared.idle_ms = head.idle_ms;
  shared.lifetime_ms = head.lifetime_ms;
  if (head.ruleset_fd >= 0) shared.ruleset_fd = first_gift_fd + head.ruleset_fd;
  if (head.freezer_fd >= 0 && head.members_fd >= 0 && head.frozen_fd >= 0) {
    shared.freezer = head.freezer;
    shared.freezer_fd = first_gift_fd + head.freezer_fd;
    shared.members_fd = first_gift_fd + head.members_fd;
    shared.frozen_fd = first_gift_fd + head.frozen_fd;
  }
  if (!reader.valid() || head.bytes != size) leave(init::abandoned_exit);
  raw_syscall(SYS_mprotect, mapped, size, PROT_READ);
  raw_syscall(SYS_close, template_fd);
}

Holder* free_holder() {
  for (auto& holder : shared.holders)
    if (holder.stack == nullptr) return &holder;
  return nullptr;
}

// Our owner, from outside: whoever is inside has a number here.
bool is_welcome(int connection) {
  struct {
    int pid = -1;
    unsigned uid = ~0u;
    unsigned gid = ~0u;
  } peer;
  unsigned size = sizeof peer;
  if (raw_syscall(SYS_getsockopt, connection, SOL_SOCKET, SO_PEERCRED, word_of(&peer), word_of(&size)) < 0) return false;
  return peer.pid == 0 && peer.uid == static_cast<unsigned>(raw_syscall(SYS_geteuid));
}

// Counted before anybody starts it: between falling asleep and a command that begins, the command wins.
void begin_command(Holder& holder) {
  count(holder);
  if (load(shared.suspended) != 0) resume(shared);
}

// Null where there is no room.
Holder* start_holder(int connection, int letterbox, bool command) {
  auto* holder = free_holder();
  if (holder == nullptr) return nullptr;
  const Word stack = raw_syscall(SYS_mmap, 0, room_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is_error(stack)) return nullptr;
  *holder = {.shared = &shared,
             .stack = reinterpret_cast<char*>(stack),
             .connection = connection,
             .letterbox = letterbox,
             .rules = load(shared.rules)};
  if (command) begin_command(*holder);
  const Word pid = child::start_beside(SIGCHLD, holder->stack + holder_stack, serve_connection, holder);
  store(holder->pid, static_cast<int>(pid));
  if (pid >= 0) return holder;
  uncount(*holder);
  raw_syscall(SYS_munmap, stack, room_bytes);
  holder->stack = nullptr;
  return nullptr;
}

// One holder that has done beforehand what the next command would wait for. Only where commands come: a session that
// nobody uses has none.
struct Spare {
  Holder* holder = nullptr;
  int letterbox = -1;
};
Spare spare;

// Not at once: it would take a processor from the command that has just been asked for. When one has ended nobody minds, and
// otherwise after a while.
constexpr std::uint64_t spare_pause_ms = 5;
std::uint64_t spare_due_ms = 0;  // 0 = none is wanted

void drop_spare() {
  if (spare.letterbox >= 0) raw_syscall(SYS_close, spare.letterbox);
  spare = {};
}

bool spare_is_stale() { return spare.holder != nullptr && spare.holder->rules != load(shared.rules); }

void start_spare() {
  spare_due_ms = 0;
  if (spare_is_stale()) drop_spare();
  if (spare.holder != nullptr) return;
  int ends[2] = {-1, -1};
  if (raw_syscall(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, word_of(ends)) < 0) return;
  spare = {.holder = start_holder(-1, ends[1], false), .letterbox = ends[0]};
  raw_syscall(SYS_close, ends[1]);
  if (spare.holder == nullptr) drop_spare();
}

bool hand_to_spare(int connection, bool command) {
  if (spare.holder == nullptr || spare_is_stale() || load(spare.holder->ready) == 0) return false;
  init::Parcel<char, 1> parcel{.fds = {connection}, .count = 1};
  if (command) begin_command(*spare.holder);
  const bool handed = init::send_parcel(spare.letterbox, parcel, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
  if (!handed) uncount(*spare.holder);
  drop_spare();
  return handed;
}

// What is asked for comes right after the connection; who takes longer is served by somebody new.
Kind wanted_on(int connection) {
  const timespec soon = {.tv_sec = 0, .tv_nsec = 1'000'000};
  pollfd ready = {.fd = connection, .events = POLLIN, .revents = 0};
  raw_syscall(SYS_ppoll, word_of(&ready), 1, word_of(&soon), 0, 0);
  Order order;
  const Word got = raw_syscall(SYS_recvfrom, connection, word_of(&order), sizeof order, MSG_PEEK | MSG_DONTWAIT, 0, 0);
  return got == sizeof order ? order.kind : Kind::state;
}

void accept_one() {
  const Word accepted = raw_syscall(SYS_accept4, listener_fd, 0, 0, SOCK_CLOEXEC);
  if (accepted < 0) return;
  const int connection = static_cast<int>(accepted);
  const bool welcome = is_welcome(connection);
  const auto wanted = welcome ? wanted_on(connection) : Kind::state;
  const bool command = wanted == Kind::exec;
  const bool starts = command || wanted == Kind::reserve;
  if (welcome && !(starts && hand_to_spare(connection, command))) start_holder(connection, -1, command);
  raw_syscall(SYS_close, connection);
  if (starts) spare_due_ms = now_ms() + spare_pause_ms;
}

// A holder that was killed could not end whom it held. They are ours now, and cannot be told from others.
void reap() {
  for (;;) {
    int status = 0;
    const Word pid = raw_syscall(SYS_wait4, -1, word_of(&status), WNOHANG | __WALL, 0);
    if (pid == -EINTR) continue;
    if (pid <= 0) return;
    auto* holder = holder_of(shared, pid);
    if (holder == nullptr) continue;
    uncount(*holder);
    raw_syscall(SYS_munmap, word_of(holder->stack), room_bytes);
    holder->stack = nullptr;
    const bool waited = holder == spare.holder;
    if (waited) drop_spare();
    else if (spare_due_ms != 0) spare_due_ms = 1;
    if ((status & 0x7f) != 0 && !waited) sweeping = true;
  }
}

void sweep() {
  supervisor::list_children(1, found);
  sweeping = false;
  for (int i = 0; i < found.count; ++i) {
    if (holder_of(shared, static_cast<Word>(found.pids[i])) != nullptr) continue;
    sweeping = true;
    raw_syscall(SYS_kill, static_cast<Word>(found.pids[i]), SIGKILL);
  }
}

// In milliseconds; -1 = nothing to wait for.
Word next_moment() {
  const auto now = now_ms();
  Word next = -1;
  const auto soonest = [&](std::uint64_t at) {
    const Word left = at > now ? static_cast<Word>(at - now) : 0;
    if (next < 0 || left < next) next = left;
  };
  if (shared.lifetime_ms != 0) soonest(shared.started_ms + shared.lifetime_ms);
  if (shared.idle_ms != 0 && load(shared.execs) == 0 && load(shared.suspended) == 0) soonest(load(shared.last_ms) + shared.idle_ms);
  if (sweeping) soonest(now + sweep_pause_ms);
  if (spare_due_ms != 0) soonest(spare_due_ms);
  return next;
}

// Whoever is frozen by version 1 does not die, and the kernel would wait for them to end with us.
[[noreturn]] void end() {
  thaw(shared);
  leave(0);
}

void keep_time() {
  const auto now = now_ms();
  if (shared.lifetime_ms != 0 && now >= shared.started_ms + shared.lifetime_ms) end();
  if (shared.idle_ms == 0 || load(shared.execs) != 0 || load(shared.suspended) != 0) return;
  if (now < load(shared.last_ms) + shared.idle_ms) return;
  suspend(shared);
  if (load(shared.execs) != 0) resume(shared);  // one began meanwhile
}

[[noreturn]] void live() {
  raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0);
  raw_syscall(SYS_prctl, PR_SET_NAME, word_of("harn-keeper"));
  unsigned long all = ~0ul;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, word_of(&all), 0, sizeof all);
  init::be_woken_by_children();
  raw_syscall(SYS_setsid);
  raw_syscall(SYS_chdir, word_of("/"));
  // What a command gets as 0, 1 and 2 must not arrive on these numbers.
  for (int number = 0; number < child::first_kept_fd; ++number) raw_syscall(SYS_dup3, listener_fd, number, O_CLOEXEC);
  raw_syscall(SYS_fcntl, listener_fd, F_SETFD, FD_CLOEXEC);
  read_template();
  shared.started_ms = shared.last_ms = now_ms();

  const unsigned long but_child = ~(1ul << (SIGCHLD - 1));
  for (;;) {
    reap();
    if (load(shared.ending) != 0) end();
    if (sweeping) sweep();
    if (spare_due_ms != 0 && now_ms() >= spare_due_ms) start_spare();
    keep_time();
    const Word wait = next_moment();
    const timespec until = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1'000'000};
    pollfd ready = {.fd = listener_fd, .events = POLLIN, .revents = 0};
    const Word count = raw_syscall(SYS_ppoll, word_of(&ready), 1, wait < 0 ? 0 : word_of(&until), word_of(&but_child), sizeof but_child);
    if (count > 0) accept_one();
  }
}

// The signal reaches our holders too, who must go on obeying.
void signal_session(Shared& of, int number) {
  const Word self = raw_syscall(SYS_getpid);
  raw_syscall(SYS_kill, -1, number);
  for (const auto& holder : of.holders)
    if (holder.stack != nullptr && load(holder.pid) > 0 && load(holder.pid) != self) raw_syscall(SYS_kill, load(holder.pid), SIGCONT);
}

}  // namespace

Holder* holder_of(Shared& of, Word pid) {
  for (auto& holder : of.holders)
    if (holder.stack != nullptr && load(holder.pid) == pid) return &holder;
  return nullptr;
}

void count(Holder& holder) {
  if (__atomic_exchange_n(&holder.counted, 1u, __ATOMIC_SEQ_CST) == 0) __atomic_add_fetch(&holder.shared->execs, 1, __ATOMIC_SEQ_CST);
}

void uncount(Holder& holder) {
  if (__atomic_exchange_n(&holder.counted, 0u, __ATOMIC_SEQ_CST) == 0) return;
  store(holder.shared->last_ms, now_ms());
  __atomic_sub_fetch(&holder.shared->execs, 1, __ATOMIC_SEQ_CST);
}

bool is_error(Word answer) { return answer < 0 && answer > -4096; }

void suspend(Shared& of) {
  if (!freeze(of)) signal_session(of, SIGSTOP);
  store(of.suspended, 1u);
}

void resume(Shared& of) {
  if (load(of.frozen) != 0) thaw(of);
  else signal_session(of, SIGCONT);
  store(of.suspended, 0u);
}

}  // namespace harn::run::keeper

// Called by the first instruction below; there is nothing to return to.
extern "C" [[noreturn]] void harn_keeper_main() { harn::run::keeper::live(); }

#if defined(__x86_64__)
asm(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall harn_keeper_main\n");
#else
asm(".globl _start\n_start:\n\tmov x29, #0\n\tbl harn_keeper_main\n");
#endif
