// SPDX-License-Identifier: Apache-2.0
// Against whoever acts on our behalf: threads change what a call names while the call is made. A storm answers
// 0 when it came to its end with its own files still in its hands; what happened outside is for others to see.
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "probe.h"

namespace probe {
namespace {

// A storm that was asked for may last.
long count_of(const std::string& text) {
  const long count = std::strtol(text.c_str(), nullptr, 10);
  if (count > 10'000) ::alarm(300);
  return count;
}

void put(const std::string& path) {
  const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY, 0600);
  if (fd >= 0) ::close(fd);
}

// The same calls still work on what is ours, and fail as they should on what is not there.
int still_served(const std::string& directory) {
  const auto file = directory + "/after-the-storm";
  const int fd = ::open(file.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  if (fd < 0) return errno;
  const bool written = ::write(fd, "x", 1) == 1;
  ::close(fd);
  if (!written || ::unlink(file.c_str()) != 0) return EIO;
  return ::unlink(file.c_str()) < 0 && errno == ENOENT ? 0 : EIO;
}

template <class Change, class Use>
void storm(long count, Change change, Use use) {
  std::atomic<bool> over = false;
  std::thread changing([&] {
    while (!over) change();
  });
  std::thread using_too([&] {
    for (long i = 0; i < count / 2; ++i) use(i);
  });
  for (long i = count / 2; i < count; ++i) use(i);
  using_too.join();
  over = true;
  changing.join();
}

void scribble(const char* path) {
  const int fd = ::open(path, O_WRONLY | O_APPEND);
  if (fd < 0) return;
  if (::write(fd, "storm", 5) < 0) ::abort();
  ::close(fd);
}

void change_by_path(long which, const char* path, const std::string& directory) {
  const auto spare = directory + "/spare" + std::to_string(which % 2);
  switch (which % 15) {
    case 0: scribble(path); break;
    case 1: ::chmod(path, 0640); break;
    case 2: (void)!::truncate(path, 3); break;
    case 3: ::utimensat(AT_FDCWD, path, nullptr, 0); break;
    case 4: ::setxattr(path, "user.storm", "x", 1, 0); break;
    case 5: ::rename(path, spare.c_str()); break;
    case 6:
      if (::link(path, spare.c_str()) == 0) scribble(spare.c_str());
      ::unlink(spare.c_str());
      break;
    case 7: ::unlink(path); break;
    case 8: (void)!::chown(path, ::getuid(), ::getgid()); break;
    case 9: (void)!::lchown(path, ::getuid(), ::getgid()); break;
    case 10: ::removexattr(path, "user.storm"); break;
    case 11: ::mknod(path, S_IFREG | 0600, 0); break;
    case 12: (void)!::symlink(path, spare.c_str()); break;
    case 13:
      if (::mkdir(path, 0700) == 0) ::rmdir(path);
      break;
    default: {
      const int fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (fd >= 0) ::close(fd);
    }
  }
}

// args: directory to work in, a file that must not be touched, how often. The text of the path changes.
int storm_of_texts(Args args) {
  const auto& bad = args[1];
  auto good = args[0] + "/";
  ::mkdir(args[0].c_str(), 0700);
  good.resize(std::max(bad.size(), good.size() + 1), 'x');
  char text[4096] = {};
  ::memcpy(text, good.c_str(), good.size() + 1);
  storm(
      count_of(args[2]),
      [&] {
        ::memcpy(text, bad.c_str(), bad.size() + 1);
        ::memcpy(text, good.c_str(), good.size() + 1);
      },
      [&](long i) {
        if (i % 64 == 0) put(good);
        change_by_path(i, text, args[0]);
      });
  return still_served(args[0]);
}

// args: directory to work in, a readable directory outside that holds "file", how often. Descriptors change.
int storm_of_descriptors(Args args) {
  constexpr int file = 100;
  constexpr int directory = 101;
  ::mkdir(args[0].c_str(), 0700);
  put(args[0] + "/file");
  const int files[] = {::open((args[0] + "/file").c_str(), O_RDONLY), ::open((args[1] + "/file").c_str(), O_RDONLY)};
  const int directories[] = {::open(args[0].c_str(), O_RDONLY | O_DIRECTORY), ::open(args[1].c_str(), O_RDONLY | O_DIRECTORY)};
  if (files[0] < 0 || files[1] < 0 || directories[0] < 0 || directories[1] < 0) return EBADF;
  const auto set = [&](int which) {
    ::dup2(files[which], file);
    ::dup2(directories[which], directory);
  };
  set(0);
  const timespec times[2] = {};
  storm(
      count_of(args[2]), [&] { set(1), set(0); },
      [&](long i) {
        int flags = 0;
        switch (i % 11) {
          case 0: ::fchmod(file, 0600); break;
          case 1: ::futimens(file, times); break;
          case 2: ::fsetxattr(file, "user.storm", "x", 1, 0); break;
          case 3: ::ioctl(file, FS_IOC_SETFLAGS, &flags); break;
          case 4: scribble("/proc/self/fd/100"); break;
          case 5: (void)!::fchown(file, ::getuid(), ::getgid()); break;
          case 6: ::close(::openat(directory, "made", O_CREAT | O_WRONLY, 0600)); break;
          case 7: ::mkdirat(directory, "made-directory", 0700); break;
          case 8: ::renameat(directory, "file", directory, "moved"); break;
          case 9: ::renameat(directory, "moved", directory, "file"); break;
          default: ::unlinkat(directory, i % 2 == 0 ? "made" : "made-directory", i % 2 == 0 ? 0 : AT_REMOVEDIR);
        }
      });
  return still_served(args[0]);
}

// args: directory to work in, a directory that must not be touched and holds "secret", how often. Names change.
int storm_of_names(Args args) {
  const auto& base = args[0];
  for (const auto* name : {"", "/a", "/a/place"}) ::mkdir((base + name).c_str(), 0700);
  put(base + "/a/place/secret");
  if (::symlink(args[1].c_str(), (base + "/a/link").c_str()) != 0) return errno;
  const auto name = [&](const char* rest) { return base + rest; };
  const auto swap = [&] {
    ::renameat2(AT_FDCWD, name("/a/place").c_str(), AT_FDCWD, name("/a/link").c_str(), RENAME_EXCHANGE);
    ::rename(name("/a").c_str(), name("/b").c_str());
    ::renameat2(AT_FDCWD, name("/b/place").c_str(), AT_FDCWD, name("/b/link").c_str(), RENAME_EXCHANGE);
    ::rename(name("/b").c_str(), name("/a").c_str());
  };
  storm(count_of(args[2]), swap, [&](long i) {
    const auto path = name(i % 2 == 0 ? "/a/place/" : "/a/link/") + (i % 3 == 0 ? "made" : "secret");
    change_by_path(i, path.c_str(), base);
  });
  return still_served(base);
}

void on_alarm(int) {}

// args: directory to work in, how often. No call is made twice because a signal came in between.
int storm_of_signals(Args args) {
  ::mkdir(args[0].c_str(), 0700);
  struct sigaction action = {};
  action.sa_handler = on_alarm;
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {.it_interval = {.tv_sec = 0, .tv_usec = 70}, .it_value = {.tv_sec = 0, .tv_usec = 70}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  const auto path = args[0] + "/directory";
  int met = 0;
  for (long i = 0; i < count_of(args[1]) && met == 0; ++i) {
    while (::mkdir(path.c_str(), 0700) != 0 && (met = errno) == EINTR) met = 0;
    while (met == 0 && ::rmdir(path.c_str()) != 0 && (met = errno) == EINTR) met = 0;
  }
  const itimerval never = {};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  return met != 0 ? met : still_served(args[0]);
}

// args: directory to work in, how many. Callers die in the middle of their calls.
int storm_of_deaths(Args args) {
  ::mkdir(args[0].c_str(), 0700);
  for (long i = 0; i < count_of(args[1]); ++i) {
    const pid_t child = ::fork();
    if (child < 0) return errno;
    if (child == 0)
      for (long n = 0;; ++n) change_by_path(n, (args[0] + "/" + std::to_string(n % 3)).c_str(), args[0]);
    ::usleep(static_cast<useconds_t>(i * 37 % 1500));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  return still_served(args[0]);
}

sockaddr_un address_of(const std::string& text) {
  sockaddr_un out = {};
  out.sun_family = AF_UNIX;
  text.copy(out.sun_path, sizeof out.sun_path - 1);
  if (text.starts_with('@')) out.sun_path[0] = '\0';
  return out;
}

// Long enough for both, and the same length for whoever reads them.
struct Addresses {
  sockaddr_un now = {};
  sockaddr_un good = {};
  sockaddr_un bad = {};

  Addresses(const std::string& ours, const std::string& theirs) : now(address_of(ours)), good(now), bad(address_of(theirs)) {}
  void change() {
    ::memcpy(&now, &bad, sizeof now);
    ::memcpy(&now, &good, sizeof now);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&now); }
};

int own_server(const std::string& path) {
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const auto address = address_of(path);
  if (::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(server, 128) != 0) return -1;
  return server;
}

// args: directory to work in, a socket that must not be reached, how often. The address changes, and so does what stands at our name.
int storm_of_addresses(Args args) {
  ::mkdir(args[0].c_str(), 0700);
  const auto name = args[0] + "/server";
  const auto link = args[0] + "/link";
  const int server = own_server(name);
  if (server < 0 || ::symlink(args[1].c_str(), link.c_str()) != 0) return errno;
  Addresses addresses(name, args[1]);
  std::atomic<long> connected = 0;
  long turn = 0;
  storm(
      count_of(args[2]),
      [&] {
        addresses.change();
        if (++turn % 16 == 0) {
          ::renameat2(AT_FDCWD, name.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
          ::renameat2(AT_FDCWD, name.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
        }
      },
      [&](long) {
        const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (::connect(client, addresses.get(), sizeof addresses.now) == 0) ++connected;
        ::close(client);
        const int taken = ::accept(server, nullptr, nullptr);
        if (taken >= 0) ::close(taken);
      });
  return connected == 0 ? ENOTCONN : still_served(args[0]);
}

// args: directory to work in, a name that must not come into being, how often.
int storm_of_binds(Args args) {
  ::mkdir(args[0].c_str(), 0700);
  Addresses addresses(args[0] + "/bound", args[1]);
  storm(
      count_of(args[2]), [&] { addresses.change(); },
      [&](long) {
        const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
        ::bind(server, addresses.get(), sizeof addresses.now);
        ::close(server);
        ::unlink(addresses.good.sun_path);
      });
  return still_served(args[0]);
}

// args: directory to work in, a datagram socket that may be reached, one that must not, how often. Addresses of messages change, and
// descriptors between sockets of both kinds.
int storm_of_messages(Args args) {
  constexpr int changing = 100;
  ::mkdir(args[0].c_str(), 0700);
  Addresses addresses(args[1], args[2]);
  int stream[2] = {};
  const int datagram = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  if (datagram < 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, stream) != 0) return errno;
  ::dup2(datagram, changing);
  char byte = 'x';
  iovec part = {&byte, 1};
  mmsghdr both[2] = {};
  storm(
      count_of(args[3]),
      [&] {
        addresses.change();
        for (auto& one : both) one.msg_hdr.msg_name = nullptr;
        ::dup2(stream[0], changing);
        for (auto& one : both) one.msg_hdr.msg_name = &addresses.now;
        ::dup2(datagram, changing);
      },
      [&](long i) {
        for (auto& one : both) {
          one.msg_hdr.msg_namelen = sizeof addresses.now;
          one.msg_hdr.msg_iov = &part;
          one.msg_hdr.msg_iovlen = 1;
        }
        if (i % 3 == 0) ::sendmsg(changing, &both[0].msg_hdr, MSG_NOSIGNAL);
        else if (i % 3 == 1) ::sendmmsg(changing, both, 2, MSG_NOSIGNAL);
        else ::sendto(changing, &byte, 1, MSG_NOSIGNAL, addresses.get(), sizeof addresses.now);
        char sink[256];
        (void)!::read(stream[1], sink, sizeof sink);
      });
  return still_served(args[0]);
}

// args: directory to work in, a process that must not be signalled, how often. Descriptors of processes change; children come and go.
int storm_of_kills(Args args) {
  constexpr int changing = 100;
  ::mkdir(args[0].c_str(), 0700);
  const auto outside = static_cast<pid_t>(std::strtol(args[1].c_str(), nullptr, 10));
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  const int ours = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  const int theirs = static_cast<int>(::syscall(SYS_pidfd_open, outside, 0));
  if (ours < 0 || theirs < 0) return errno;
  ::dup2(ours, changing);
  ::signal(SIGURG, SIG_IGN);
  storm(
      count_of(args[2]),
      [&] {
        ::dup2(theirs, changing);
        ::dup2(ours, changing);
      },
      [&](long i) {
        switch (i % 5) {
          case 0: ::syscall(SYS_pidfd_send_signal, changing, SIGURG, nullptr, 0); break;
          case 1: ::kill(outside, SIGURG); break;
          case 2: ::kill(child, SIGURG); break;
          case 3: ::syscall(SYS_tkill, outside, SIGURG); break;
          default: ::kill(-::getpgrp(), SIGURG);
        }
      });
  // Whether any of them reached the child in between is luck; now nothing changes any more.
  ::dup2(ours, changing);
  const int error = ::syscall(SYS_pidfd_send_signal, changing, SIGURG, nullptr, 0) == 0 ? 0 : errno;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return error != 0 ? error : still_served(args[0]);
}

// args: directory to work in, how many at once, for how long in seconds. Changes without end, for whoever wants to see them ended.
int endless_changes(Args args) {
  const auto a = args[0] + "/a";
  const auto b = args[0] + "/b";
  for (int i = 0; i < std::atoi(args[1].c_str()); ++i)
    if (::fork() == 0) {
      ::setsid();
      ::alarm(static_cast<unsigned>(std::atoi(args[2].c_str())));
      for (;;) {
        ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
        const auto spare = args[0] + "/spare" + std::to_string(i);
        if (::mkdir(spare.c_str(), 0700) == 0) ::rmdir(spare.c_str());
      }
    }
  ::alarm(static_cast<unsigned>(std::atoi(args[2].c_str())));
  for (;;) ::pause();
}

constexpr Probe table[] = {
    {"storm_of_addresses", storm_of_addresses},     {"storm_of_binds", storm_of_binds},
    {"storm_of_messages", storm_of_messages},       {"storm_of_kills", storm_of_kills},
    {"endless_changes", endless_changes},           {"storm_of_texts", storm_of_texts},
    {"storm_of_descriptors", storm_of_descriptors}, {"storm_of_names", storm_of_names},
    {"storm_of_signals", storm_of_signals},         {"storm_of_deaths", storm_of_deaths},
};

}  // namespace

Probes storms() { return table; }

}  // namespace probe
