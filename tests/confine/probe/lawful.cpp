// SPDX-License-Identifier: Apache-2.0
// Acts that must work inside: a refusal counts only beside an admission.
#include <dirent.h>
#include <fcntl.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <thread>

#include "probe.h"

namespace probe {
namespace {

int pair(int type) {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, type, 0, ends) != 0) return errno;
  char byte = 'x';
  if (::send(ends[0], &byte, 1, 0) != 1) return errno;
  return verdict(::recv(ends[1], &byte, 1, 0));
}

int stream_pair(Args) { return pair(SOCK_STREAM); }
int datagram_pair(Args) { return pair(SOCK_DGRAM); }

int serve_itself(Args args) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  args[0].copy(address.sun_path, sizeof address.sun_path - 1);
  if (args[0].starts_with('@')) address.sun_path[0] = '\0';
  const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (server < 0 || client < 0) return errno;
  if (::bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(server, 1) != 0) return errno;
  return verdict(::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address));
}

int terminal_pair(Args) {
  int master = -1;
  int slave = -1;
  if (::openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) return errno;
  if (::write(master, "x\n", 2) != 2) return errno;
  char text[8];
  return verdict(::read(slave, text, sizeof text));
}

int shared_memory_file(Args) {
  const int fd = ::shm_open("/harn-lawful", O_CREAT | O_RDWR, 0600);
  if (fd < 0 || ::ftruncate(fd, 4096) != 0) return errno;
  return ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : verdict(::shm_unlink("/harn-lawful"));
}

int old_segment(Args) {
  const int id = ::shmget(IPC_PRIVATE, 4096, 0600);
  return id < 0 ? errno : verdict(::shmctl(id, IPC_RMID, nullptr));
}

int signal_child(Args) {
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  if (::kill(child, SIGKILL) != 0) return errno;
  return verdict(::waitpid(child, nullptr, 0));
}

int nice_itself(Args) { return verdict(::setpriority(PRIO_PROCESS, 0, 5)); }

int pin_itself(Args) {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return errno;
  return verdict(::sched_setaffinity(0, sizeof set, &set));
}

// Made, changed, linked, moved and removed, with everything a build tool does to a file.
int file_life(Args args) {
  const auto a = args[0] + "/lawful-" + std::to_string(::getpid());
  const auto b = a + "-linked";
  const int fd = ::open(a.c_str(), O_CREAT | O_RDWR | O_EXCL, 0600);
  if (fd < 0 || ::write(fd, "x", 1) != 1 || ::ftruncate(fd, 0) != 0 || ::flock(fd, LOCK_EX) != 0) return errno;
  if (::chmod(a.c_str(), 0755) != 0 || ::chown(a.c_str(), ::getuid(), ::getgid()) != 0) return errno;
  if (::utimensat(AT_FDCWD, a.c_str(), nullptr, 0) != 0 || ::link(a.c_str(), b.c_str()) != 0) return errno;
  if (::rename(a.c_str(), (a + "2").c_str()) != 0 || ::unlink((a + "2").c_str()) != 0) return errno;
  return verdict(::unlink(b.c_str()));
}

int directory_life(Args args) {
  const auto a = args[0] + "/lawful-d-" + std::to_string(::getpid());
  if (::mkdir(a.c_str(), 0700) != 0 || ::mkdir((a + "/x").c_str(), 0700) != 0) return errno;
  if (::rename((a + "/x").c_str(), (a + "-x").c_str()) != 0) return errno;
  if (::symlink("x", (a + "/l").c_str()) != 0 || ::mkfifo((a + "/f").c_str(), 0600) != 0) return errno;
  for (const auto* name : {"/l", "/f"})
    if (::unlink((a + name).c_str()) != 0) return errno;
  if (::rmdir((a + "-x").c_str()) != 0) return errno;
  return verdict(::rmdir(a.c_str()));
}

// The mask of whoever makes something decides its mode, at once after it was changed: by the process, by another
// thread of it, and by a child for itself.
int modes(Args args) {
  const auto name = args[0] + "/lawful-m-" + std::to_string(::getpid());
  const auto made = [&](mode_t expected) {
    struct stat status = {};
    if (::mkdir(name.c_str(), 0777) != 0 || ::stat(name.c_str(), &status) != 0 || ::rmdir(name.c_str()) != 0) return errno;
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0777);
    struct stat opened = {};
    if (file < 0 || ::fstat(file, &opened) != 0 || ::unlink(name.c_str()) != 0) return errno;
    ::close(file);
    return (status.st_mode & 0777) == expected && (opened.st_mode & 0777) == expected ? 0 : EPROTO;
  };
  const mode_t given = ::umask(0);
  ::umask(given);
  if (const int error = made(0777 & ~given)) return error;
  for (const mode_t mask : {077u, 0u, 027u})
    for (int i = 0; i < 3; ++i) {
      if (i == 0) ::umask(mask);
      if (const int error = made(0777 & ~mask)) return error;
    }
  int in_thread = EPROTO;
  std::thread([&] {
    ::umask(070);
    in_thread = made(0707);
  }).join();
  if (in_thread != 0) return in_thread;
  if (const int error = made(0707)) return error;
  const pid_t child = ::fork();
  if (child == 0) {
    int error = made(0707);
    ::umask(007);
    if (error == 0) error = made(0770);
    ::_exit(error);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return errno;
  if (status != 0) return EPROTO;
  return made(0707);
}

int attribute(Args args) { return verdict(::setxattr(args[0].c_str(), "user.harn.lawful", "x", 1, 0)); }

int unnamed_file(Args args) { return verdict(::open(args[0].c_str(), O_TMPFILE | O_RDWR, 0600)); }

int events(Args args) {
  if (::epoll_create1(0) < 0 || ::eventfd(0, 0) < 0 || ::timerfd_create(CLOCK_MONOTONIC, 0) < 0) return errno;
  const int watcher = ::inotify_init1(0);
  return watcher < 0 ? errno : verdict(::inotify_add_watch(watcher, args[0].c_str(), IN_CREATE));
}

int executable_memory(Args) {
  return ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}

int run_program(Args args) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(args[0].c_str(), args[0].c_str(), "-c", "exit 0", nullptr);
    ::_exit(errno);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

// args: a directory of one's own. Calls that fail fail as they do without a sandbox.
int expected_errors(Args args) {
  const auto base = args[0] + "/errors";
  const auto file = base + "/file";
  if (::mkdir(base.c_str(), 0700) != 0) return errno;
  const int made = ::open(file.c_str(), O_CREAT | O_WRONLY | O_EXCL, 0600);
  if (made < 0) return errno;
  ::close(made);
  const auto missing = base + "/missing";
  const auto opened = [](const std::string& path, int flags) { return ::open(path.c_str(), flags, 0600); };
  const auto met = [](int result) { return result >= 0 ? 0 : errno; };
  const bool right =
      met(::mkdir(file.c_str(), 0700)) == EEXIST && met(::mkdir("/usr", 0700)) == EEXIST && met(::mkdir("/", 0700)) == EEXIST &&
      met(::unlink(missing.c_str())) == ENOENT && met(::rmdir(file.c_str())) == ENOTDIR && met(::rmdir((base + "/.").c_str())) == EINVAL &&
      met(::rmdir((base + "/..").c_str())) == ENOTEMPTY && met(::rmdir(base.c_str())) == ENOTEMPTY &&
      met(::unlink(base.c_str())) == EISDIR && met(opened(file + "/", O_WRONLY)) == ENOTDIR &&
      met(opened(file + "/x", O_WRONLY | O_CREAT)) == ENOTDIR && met(opened(base, O_WRONLY)) == EISDIR &&
      met(opened(missing + "/", O_WRONLY | O_CREAT)) == EISDIR && met(opened(file, O_CREAT | O_EXCL | O_WRONLY)) == EEXIST &&
      met(opened(missing, O_WRONLY)) == ENOENT && met(opened("", O_WRONLY)) == ENOENT &&
      met(opened(base + "/" + std::string(300, 'a'), O_WRONLY)) == ENAMETOOLONG &&
      met(opened(std::string(5000, '/'), O_WRONLY)) == ENAMETOOLONG && met(::rename(missing.c_str(), file.c_str())) == ENOENT &&
      met(::rename(base.c_str(), file.c_str())) == EINVAL && met(::link(missing.c_str(), file.c_str())) == ENOENT &&
      met(::chmod(missing.c_str(), 0600)) == ENOENT && met(::fchmod(-1, 0600)) == EBADF && met(::fchmod(999, 0600)) == EBADF &&
      met(::truncate(base.c_str(), 0)) == EISDIR && met(::truncate(file.c_str(), -1)) == EINVAL &&
      met(static_cast<int>(::syscall(SYS_openat, AT_FDCWD, nullptr, O_WRONLY))) == EFAULT &&
      met(static_cast<int>(::syscall(SYS_mkdirat, 999, "x", 0700))) == EBADF;
  ::unlink(file.c_str());
  ::rmdir(base.c_str());
  return right ? 0 : EPROTO;
}

constexpr Probe table[] = {
    {"lawful_stream_pair", stream_pair},
    {"lawful_datagram_pair", datagram_pair},
    {"lawful_serve", serve_itself},
    {"lawful_terminal", terminal_pair},
    {"lawful_shared_memory", shared_memory_file},
    {"lawful_segment", old_segment},
    {"lawful_signal_child", signal_child},
    {"lawful_nice", nice_itself},
    {"lawful_affinity", pin_itself},
    {"lawful_file", file_life},
    {"lawful_directory", directory_life},
    {"lawful_modes", modes},
    {"lawful_attribute", attribute},
    {"lawful_errors", expected_errors},
    {"lawful_unnamed_file", unnamed_file},
    {"lawful_events", events},
    {"lawful_executable_memory", executable_memory},
    {"lawful_program", run_program},
};

}  // namespace

Probes lawful() { return table; }

}  // namespace probe
