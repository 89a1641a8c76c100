// SPDX-License-Identifier: Apache-2.0
// A program that uses more than it should, in one way per word. Says "done" when nothing stopped it.
// Static and plain, so that it starts inside any sandbox.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t mebibyte = 1u << 20;

struct Wish {
  std::size_t bytes = 0;
  unsigned hold_seconds = 0;  // keeps what it has, so that a slow machine still sees it
};

[[noreturn]] void broken(const char* what) {
  std::printf("broken %s: %s\n", what, std::strerror(errno));
  std::fflush(stdout);
  ::_exit(3);
}

int done(const Wish& wish) {
  ::sleep(wish.hold_seconds);
  std::puts("done");
  return 0;
}

int fill(void* memory, const Wish& wish) {
  if (memory == MAP_FAILED) broken("mmap");
  std::memset(memory, 1, wish.bytes);
  return done(wish);
}

int heap(const Wish& wish) { return fill(::mmap(nullptr, wish.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), wish); }

int shared(const Wish& wish) { return fill(::mmap(nullptr, wish.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), wish); }

// Each a tenth: none is large alone.
int ten(const Wish& wish) {
  for (int i = 0; i < 10; ++i)
    if (::fork() == 0) {
      heap({wish.bytes / 10, wish.hold_seconds});
      ::_exit(0);  // without a word: the buffers are the parent's
    }
  int failures = 0;
  int status = 0;
  while (::wait(&status) > 0) failures += status == 0 ? 0 : 1;
  if (failures != 0) return 4;
  return done({});
}

int write_all(int fd, const Wish& wish) {
  static const std::string block(mebibyte, 'x');
  for (std::size_t left = wish.bytes; left > 0; left -= mebibyte)
    if (::write(fd, block.data(), block.size()) != static_cast<ssize_t>(block.size())) broken("write");
  return done(wish);
}

int memory_file(const Wish& wish) { return write_all(::memfd_create("hog", 0), wish); }

// Mapped as well as held open: one and the same memory.
int mapped_file(const Wish& wish) {
  const int fd = ::memfd_create("hog", 0);
  if (::ftruncate(fd, static_cast<off_t>(wish.bytes)) != 0) broken("ftruncate");
  return fill(::mmap(nullptr, wish.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), wish);
}

// Everything below is held, and shows in no counter of the process.
int dropped(const Wish& wish) {
  void* memory = ::mmap(nullptr, wish.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) broken("mmap");
  for (std::size_t at = 0; at < wish.bytes; at += mebibyte) {
    std::memset(static_cast<char*>(memory) + at, 1, mebibyte);
    ::madvise(static_cast<char*>(memory) + at, mebibyte, MADV_DONTNEED);
  }
  return done(wish);
}

int in_a_closed_process(const Wish& wish) {
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) broken("prctl");
  return memory_file(wish);
}

bool send_away(int socket, int file) {
  char byte = 0;
  iovec text = {.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof file)] = {};
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  auto* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  return ::sendmsg(socket, &message, 0) == 1;
}

// One after the other: none is large, and only one at a time has a descriptor.
int in_flight(const Wish& wish) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) broken("socketpair");
  static const std::string block(mebibyte, 'x');
  for (std::size_t left = wish.bytes; left > 0; left -= mebibyte) {
    const int file = ::memfd_create("hog", 0);
    if (::write(file, block.data(), block.size()) != static_cast<ssize_t>(block.size())) broken("write");
    if (!send_away(ends[0], file)) broken("sendmsg");
    ::close(file);
  }
  return done(wish);
}

void* fill_and_stay(void* wish) {
  const auto& wanted = *static_cast<const Wish*>(wish);
  ::usleep(50'000);  // the first thread has ended
  ::exit(heap(wanted));
}

int without_first_thread(const Wish& wish) {
  static const Wish kept = wish;
  pthread_t thread = {};
  if (::pthread_create(&thread, nullptr, fill_and_stay, const_cast<Wish*>(&kept)) != 0) broken("pthread_create");
  ::syscall(SYS_exit, 0);
  return 0;
}

// Room for more than it fills.
int sparse(const Wish& wish) {
  void* memory = ::mmap(nullptr, wish.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) broken("mmap");
  std::memset(memory, 1, mebibyte);
  return done(wish);
}

int file(const char* path, const Wish& wish) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) broken(path);
  return write_all(fd, wish);
}

int segment(const Wish& wish, bool detach) {
  const int id = ::shmget(IPC_PRIVATE, wish.bytes, IPC_CREAT | 0600);
  if (id < 0) broken("shmget");
  void* memory = ::shmat(id, nullptr, 0);
  if (memory == reinterpret_cast<void*>(-1)) broken("shmat");
  std::memset(memory, 1, wish.bytes);
  if (detach) ::shmdt(memory);
  const int result = done(wish);
  ::shmctl(id, IPC_RMID, nullptr);
  return result;
}

// Children that stay; says how many could be made.
int forks(int wanted, unsigned hold_seconds) {
  int made = 0;
  int error = 0;
  int lifeline[2] = {};
  if (::pipe(lifeline) != 0) broken("pipe");
  while (made < wanted) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(lifeline[1]);
      char byte = 0;
      ::_exit(::read(lifeline[0], &byte, 1) == 0 ? 0 : 1);
    }
    if (child < 0) {
      error = errno;
      break;
    }
    ++made;
  }
  std::printf("made %d%s\n", made, error == EAGAIN ? " until EAGAIN" : "");
  std::fflush(stdout);
  ::sleep(hold_seconds);
  ::close(lifeline[1]);
  while (::wait(nullptr) > 0) {
  }
  return done({});
}

// Each process lives just long enough to make the next, in a session of its own: no pid is ever old.
// Ends by itself after a while, for the day when nobody ends it.
[[noreturn]] void hop(time_t until) {
  ::setsid();
  for (;;) {
    const pid_t child = ::fork();
    if (child < 0 && ::write(1, "refused\n", 8) < 0) ::_exit(2);
    if (child != 0 || ::time(nullptr) > until) ::_exit(0);
    const timespec pause = {.tv_sec = 0, .tv_nsec = 100'000};
    ::nanosleep(&pause, nullptr);
  }
}

int hoppers(int chains, const Wish& wish) {
  const auto until = ::time(nullptr) + 30;
  for (int i = 0; i < chains; ++i)
    if (::fork() == 0) hop(until);
  return done(wish);
}

[[noreturn]] void bomb() {
  for (;;) ::fork();
}

double cpu_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

int spin(int workers, double seconds) {
  for (int i = 0; i < workers; ++i) {
    if (::fork() != 0) continue;
    while (cpu_seconds() < seconds) {
    }
    ::_exit(0);
  }
  if (workers == 0)
    while (cpu_seconds() < seconds) {
    }
  while (::wait(nullptr) > 0) {
  }
  return done({});
}

void stay_forever(bool stopped) {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
  if (stopped) ::raise(SIGSTOP);
  for (;;) ::pause();
}

// Three that want to outlive everything: a daemon without descriptors, one that is stopped, and a
// child that ignores what can be ignored.
int lingerers(bool leave) {
  for (const bool stopped : {false, true}) {
    if (::fork() != 0) continue;
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    for (int fd = 0; fd < 64; ++fd) ::close(fd);
    stay_forever(stopped);
  }
  if (::fork() == 0) stay_forever(false);
  ::wait(nullptr);
  ::wait(nullptr);
  std::puts("lingering");
  std::fflush(stdout);
  if (leave) return 0;
  stay_forever(false);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  const Wish wish{static_cast<std::size_t>(number) * mebibyte, argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 0};
  if (mode == "heap") return heap(wish);
  if (mode == "shared") return shared(wish);
  if (mode == "ten") return ten(wish);
  if (mode == "memfd") return memory_file(wish);
  if (mode == "mapped") return mapped_file(wish);
  if (mode == "dropped") return dropped(wish);
  if (mode == "closed") return in_a_closed_process(wish);
  if (mode == "flight") return in_flight(wish);
  if (mode == "threaded") return without_first_thread(wish);
  if (mode == "sparse") return sparse(wish);
  if (mode == "segment") return segment(wish, /*detach=*/false);
  if (mode == "detached") return segment(wish, /*detach=*/true);
  if (mode == "file") return file(argv[4], wish);
  if (mode == "forks") return forks(number, wish.hold_seconds);
  if (mode == "hop") return hoppers(number, wish);
  if (mode == "bomb") bomb();
  if (mode == "spin") return spin(number, std::atof(argv[3]));
  if (mode == "linger") return lingerers(number != 0);
  return 2;
}
