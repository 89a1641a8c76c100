// SPDX-License-Identifier: Apache-2.0
// One holder per connection: reads what is wanted, starts the command with the steps of the letter around
// those of the template, and is to this command what init is to a single one: it reaps, passes signals on, says
// how the command ended and ends what it left. It shares the keeper's memory, which nobody inside can look into.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>

#include "run/child/replay.h"
#include "run/init/first_process.h"
#include "run/init/parcel.h"
#include "run/keeper/letter.h"
#include "run/keeper/shared.h"
#include "run/supervisor/descendants.h"

namespace harn::run::keeper {
namespace {

using init::leave;
using init::Life;
using supervisor::Found;

Word map(std::uint64_t bytes) {
  return raw_syscall(SYS_mmap, 0, static_cast<Word>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

bool read_all(int fd, char* to, std::uint64_t bytes) {
  while (bytes != 0) {
    const Word got = raw_syscall(SYS_read, fd, word_of(to), static_cast<Word>(bytes));
    if (got == -EINTR) continue;
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<std::uint64_t>(got);
  }
  return true;
}

using Received = init::Parcel<Order, most_fds>;

bool receive(int connection, Received& out) {
  return init::receive_parcel(connection, out, MSG_WAITALL) == sizeof out.value && out.value.magic == magic && !out.cut &&
         out.count == out.value.fds;
}

template <class T>
void answer(int connection, const T& value) {
  raw_syscall(SYS_write, connection, word_of(&value), sizeof value);
}

class Holding {
 public:
  Holding(Holder& holder, const Received& received, bool reserved)
      : holder_(holder),
        shared_(*holder.shared),
        connection_(holder.connection),
        received_(received),
        status_(received.fds[status_at]),
        control_(received.fds[control_at]),
        keeps_((received.value.flags & keeps_processes) != 0),
        waits_((received.value.flags & waits_for_word) != 0),
        reserved_(reserved),
        child_stack_top_(holder.stack + stack_bytes),
        template_steps_(holder.ready != 0 ? 0 : holder.shared->step_count) {}

  [[noreturn]] void run() {
    child::Report report = {.failed_step = 0, .error = EBADMSG, .inner = 0, .exec_attempted = 0, .init_attempted = 0};
    if (received_.value.kind == Kind::exec) count(holder_);
    const Word pid = start(report);
    for (unsigned i = first_letter_fd; i < received_.count; ++i) raw_syscall(SYS_close, received_.fds[i]);
    answer(connection_, Answer{.report = report, .template_steps = template_steps_ + (waits_ ? 1 : 0)});
    raw_syscall(SYS_close, connection_);
    if (pid <= 0 || report.failed_step >= 0 || received_.value.kind == Kind::prove) leave(0);
    hold(pid);
  }

 private:
  // Room for so many bytes, which are zero again and gone when it is: what a command is given is known to nobody here any more.
  class Room {
   public:
    // Beside the stacks where it is enough: memory is shared with others, and giving some back interrupts them all.
    Room(char* own, std::uint64_t own_bytes, std::uint64_t bytes) : bytes_(bytes), own_(bytes <= own_bytes) {
      const Word place = own_ ? word_of(own) : map(bytes);
      if (!is_error(place)) place_ = reinterpret_cast<char*>(place);
    }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room() {
      if (place_ == nullptr) return;
      if (own_)
        for (std::uint64_t i = 0; i < bytes_; ++i) static_cast<volatile char*>(place_)[i] = 0;
      else raw_syscall(SYS_munmap, word_of(place_), static_cast<Word>(bytes_));
    }
    char* place() const { return place_; }

   private:
    std::uint64_t bytes_;
    bool own_;
    char* place_ = nullptr;
  };

  // A keeper that falls asleep looks for commands once more after it has said so; we count first and look then.
  bool must_be_asked_anew() const {
    return reserved_ && (load(shared_.suspended) != 0 || (holder_.ready != 0 && holder_.rules != load(shared_.rules)));
  }

  Word start(child::Report& report) {
    const std::uint64_t size = received_.value.letter_bytes;
    if (size < sizeof(Letter) || size > longest_letter || received_.count < first_letter_fd) return -1;
    const Room room(child_stack_top_, letter_room / 2, size);
    auto* bytes = room.place();
    if (bytes == nullptr || !read_all(connection_, bytes, size) || bytes[size - 1] != '\0') return -1;
    if (!must_be_asked_anew()) return launch(bytes, report);
    report.error = ask_anew;
    return -1;
  }

  Word launch(char* bytes, child::Report& report) {
    const auto& head = *reinterpret_cast<const Letter*>(bytes);
    Reader reader(bytes, received_.value.letter_bytes, received_.fds + first_letter_fd, received_.count - first_letter_fd);
    const auto* before = reader.steps(head.before, head.before_count);
    const auto* after = reader.steps(head.after, head.after_count);
    child::Launch launch;
    launch.candidates = reader.texts(head.candidates, head.candidate_count);
    launch.candidate_count = head.candidate_count;
    launch.argv = reader.texts(head.argv, reader.length(head.argv));
    launch.shell_argv = reader.texts(head.shell_argv, reader.length(head.shell_argv));
    launch.envp = reader.texts(head.envp, reader.length(head.envp));
    if (!reader.valid()) return -1;
    const std::uint64_t count = std::uint64_t{head.before_count} + template_steps_ + (waits_ ? 1 : 0) + head.after_count;
    const Room room(child_stack_top_ + letter_room / 2, letter_room / 2, count * sizeof(child::Step) + 1);
    if (room.place() == nullptr) return -1;
    auto* steps = reinterpret_cast<child::Step*>(room.place());
    auto* to = steps;
    for (std::uint32_t i = 0; i < head.before_count; ++i) *to++ = before[i];
    for (std::uint32_t i = 0; i < template_steps_; ++i) *to++ = shared_.steps[i];
    if (waits_) *to++ = {.op = child::Op::await_word, .number = connection_};
    for (std::uint32_t i = 0; i < head.after_count; ++i) *to++ = after[i];
    launch.inner = {.steps = steps, .count = count};
    if (template_steps_ != 0 && load(shared_.suspended) != 0) resume(shared_);
    const Word pid = child::start_sharing(SIGCHLD, child_stack_top_, nullptr, child::replay_inner, &launch);
    report = launch.report;
    if (pid < 0) report = {.failed_step = 0, .error = static_cast<std::int32_t>(-pid)};
    return pid;
  }

  bool reap(Life& life, int options) const {
    return init::reap(life, options | __WALL, status_, [](int status) { return (status & 0x7f) == SIGKILL; });
  }

  void end_everybody(Life& life) {
    while (reap(life, WNOHANG)) {
      signal_everybody(SIGKILL);
      const timespec pause = {.tv_sec = 0, .tv_nsec = 100'000};
      raw_syscall(SYS_nanosleep, word_of(&pause), 0);
    }
  }

  // Rarely needed, so its list is not part of what every holder costs.
  void signal_everybody(int number) {
    if (found_ == nullptr) {
      const Word room = map(sizeof(Found));
      if (is_error(room)) return;
      found_ = reinterpret_cast<Found*>(room);
    }
    signal_descendants(number, *found_);
  }

  [[noreturn]] void finish(int code) {
    uncount(holder_);
    if (found_ != nullptr) raw_syscall(SYS_munmap, word_of(found_), sizeof(Found));
    leave(code);
  }

  // What may stay comes to the keeper when this process ends.
  [[noreturn]] void sweep(Life& life) {
    const init::Record ended = {.kind = init::Record::ended, .status = life.status};
    const bool others = reap(life, WNOHANG);
    if (others && !keeps_) {
      init::tell(status_, ended);
      end_everybody(life);
      init::tell(status_, init::last_words(life, /*alone=*/false));
      finish(0);
    }
    const init::Record both[] = {ended, init::last_words(life, /*alone=*/false)};
    raw_syscall(SYS_write, status_, word_of(both), sizeof both);
    finish(0);
  }

  struct Hand {
    Holding& holding;
    Life& life;

    [[noreturn]] void abandon() const {
      holding.end_everybody(life);
      holding.finish(init::abandoned_exit);
    }
    void tell_measure() const {
      shm_info segments = {};
      raw_syscall(SYS_shmctl, 0, SHM_INFO, word_of(&segments));
      init::tell(holding.status_, {.kind = init::Record::measured, .shared_pages = segments.shm_rss + segments.shm_swp});
    }
    void signal_command(int number) const {
      if (!life.ended) raw_syscall(SYS_kill, life.command, number);
    }
    void signal_everybody(int number) const { holding.signal_everybody(number); }
  };

  [[noreturn]] void hold(Word pid) {
    Life life{.command = pid};
    const unsigned long but_child = ~(1ul << (SIGCHLD - 1));
    for (;;) {
      reap(life, WNOHANG);
      if (life.ended) sweep(life);
      pollfd ready = {.fd = control_, .events = POLLIN, .revents = 0};
      const Word count = raw_syscall(SYS_ppoll, word_of(&ready), 1, 0, word_of(&but_child), sizeof but_child);
      if (count > 0) init::obey(control_, status_, Hand{*this, life});
    }
  }

  Holder& holder_;
  Shared& shared_;
  int connection_;
  const Received& received_;
  int status_;
  int control_;
  bool keeps_;
  bool waits_;
  bool reserved_;
  char* child_stack_top_;
  std::uint32_t template_steps_;  // none where this process has taken them already
  Found* found_ = nullptr;
};

// Whom commands left behind: children of the keeper that hold nobody.
std::uint32_t count_others(Shared& shared) {
  const Word room = map(sizeof(Found));
  if (is_error(room)) return 0;
  auto& found = *reinterpret_cast<Found*>(room);
  supervisor::list_children(1, found);
  std::uint32_t count = 0;
  for (int i = 0; i < found.count; ++i)
    if (holder_of(shared, static_cast<Word>(found.pids[i])) == nullptr) ++count;
  raw_syscall(SYS_munmap, room, sizeof(Found));
  return count;
}

void tell_state(Shared& shared, int connection) {
  const auto now = now_ms();
  const auto execs = load(shared.execs);
  answer(connection, State{.suspended = load(shared.suspended),
                           .execs = execs,
                           .others = count_others(shared),
                           .frozen = load(shared.frozen),
                           .age_ms = now - shared.started_ms,
                           .idle_ms = execs != 0 ? 0 : now - load(shared.last_ms)});
}

// For whoever mounts something into the view or opens sockets in its network: outside our owner is the namespaces' owner, inside nobody is.
void send_namespaces(const Shared& shared, int connection) {
  const auto open = [](const char* path) {
    return static_cast<int>(raw_syscall(SYS_openat, AT_FDCWD, word_of(path), O_RDONLY | O_CLOEXEC));
  };
  const unsigned count = shared.ruleset_fd >= 0 ? 4 : 3;
  init::Parcel<Order, 4> parcel{
      .value = {.kind = Kind::namespaces, .fds = count},
      .fds = {open("/proc/self/ns/user"), open("/proc/self/ns/mnt"), open("/proc/self/ns/net"), shared.ruleset_fd},
      .count = count};
  if (parcel.fds[0] < 0 || parcel.fds[1] < 0 || parcel.fds[2] < 0) return;
  init::send_parcel(connection, parcel, MSG_NOSIGNAL);
}

// Before anybody asks: what every command gives up is given up here, and inherited. From here on this process
// may do no more than the command, which is all it needs.
void give_up_beforehand(Holder& holder) {
  child::Launch launch;
  launch.inner = {.steps = holder.shared->steps, .count = holder.shared->step_count};
  if (!child::replay_here(launch)) leave(0);
  store(holder.ready, 1u);
}

int await_connection(Holder& holder) {
  give_up_beforehand(holder);
  init::Parcel<char, 1> parcel;
  if (init::receive_parcel(holder.letterbox, parcel, 0) != sizeof parcel.value || parcel.count != 1) leave(0);
  raw_syscall(SYS_close, holder.letterbox);
  return parcel.fds[0];
}

[[noreturn]] void serve(Holder& holder) {
  raw_syscall(SYS_prctl, PR_SET_NAME, word_of("harn-holder"));
  raw_syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
  auto& shared = *holder.shared;
  if (holder.letterbox >= 0) holder.connection = await_connection(holder);
  const int connection = holder.connection;
  Received received;
  if (!receive(connection, received)) leave(0);
  const bool reserved = received.value.kind == Kind::reserve;
  if (reserved && holder.ready == 0) give_up_beforehand(holder);
  if (reserved && (!receive(connection, received) || received.value.kind != Kind::exec)) leave(0);
  switch (received.value.kind) {
    case Kind::exec:
    case Kind::prove: Holding(holder, received, reserved).run();
    case Kind::state: tell_state(shared, connection); break;
    case Kind::suspend:
      suspend(shared);
      tell_state(shared, connection);
      break;
    case Kind::resume:
      resume(shared);
      store(shared.last_ms, now_ms());
      tell_state(shared, connection);
      break;
    case Kind::refresh:
      __atomic_add_fetch(&shared.rules, 1, __ATOMIC_SEQ_CST);
      tell_state(shared, connection);
      break;
    case Kind::end: store(shared.ending, 1u); break;
    case Kind::reserve: break;
    case Kind::namespaces: send_namespaces(shared, connection); break;
  }
  leave(0);
}

}  // namespace

int serve_connection(void* holder) noexcept { serve(*static_cast<Holder*>(holder)); }

}  // namespace harn::run::keeper
