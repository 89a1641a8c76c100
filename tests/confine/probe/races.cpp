// SPDX-License-Identifier: Apache-2.0
// Two processes against the kernel's own path walk: one keeps changing what a name means while the
// other keeps using it. The refusal that was met is the answer, unless it got through once.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "probe.h"

namespace probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds at_least{100};
constexpr std::chrono::seconds at_most{5};

// EAGAIN means that this time the names stood harmlessly; ENOENT says less than any other refusal.
template <class Change, class Use>
int race(Change change, Use use) {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0)
    for (;;) change();
  int met = EAGAIN;
  for (const auto start = Clock::now(); met != 0;) {
    const int result = use();
    if (result != EAGAIN && (met == EAGAIN || met == ENOENT || result == 0)) met = result;
    const auto spent = Clock::now() - start;
    if (spent > at_most || (met != EAGAIN && spent > at_least)) break;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return met;
}

void swap(const std::string& a, const std::string& b) { ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE); }

// A decoy says "decoy"; what must not be read says "secret".
int read_secret(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  if (fd < 0) return errno == ELOOP ? EAGAIN : errno;
  char first = 0;
  const auto got = ::read(fd, &first, 1);
  ::close(fd);
  return got == 1 && first == 's' ? 0 : EAGAIN;
}

void put(const std::string& path, const char* text) {
  const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  if (::write(fd, text, 5) != 5) ::_exit(EDOM);
  ::close(fd);
}

// args: a directory to work in, the directory outside that holds "secret"
int swap_directory_for_link(Args args) {
  const auto& base = args[0];
  ::mkdir(base.c_str(), 0700);
  ::mkdir((base + "/place").c_str(), 0700);
  put(base + "/place/secret", "decoy");
  if (::symlink(args[1].c_str(), (base + "/link").c_str()) != 0) return errno;
  return race([&] { swap(base + "/place", base + "/link"); }, [&] { return read_secret(base + "/place/secret"); });
}

int swap_file_for_link(Args args) {
  const auto& base = args[0];
  ::mkdir(base.c_str(), 0700);
  put(base + "/file", "decoy");
  if (::symlink((args[1] + "/secret").c_str(), (base + "/link").c_str()) != 0) return errno;
  return race([&] { swap(base + "/file", base + "/link"); }, [&] { return read_secret(base + "/file"); });
}

int write_while_swapping(Args args) {
  const auto& base = args[0];
  ::mkdir(base.c_str(), 0700);
  ::mkdir((base + "/place").c_str(), 0700);
  if (::symlink(args[1].c_str(), (base + "/link").c_str()) != 0) return errno;
  return race([&] { swap(base + "/place", base + "/link"); },
              [&] {
                const int fd = ::open((base + "/place/made").c_str(), O_CREAT | O_WRONLY, 0600);
                if (fd < 0) return errno;
                ::close(fd);
                return ::access((args[1] + "/made").c_str(), F_OK) == 0 ? 0 : EAGAIN;
              });
}

// A directory is moved up while somebody climbs out of it: ".." may lead past where it should end.
int climb_while_moving(Args args) {
  const auto& base = args[0];
  for (const auto* name : {"", "/a", "/a/b", "/a/b/c"}) ::mkdir((base + name).c_str(), 0700);
  if (::chdir((base + "/a/b/c").c_str()) != 0) return errno;
  const auto climb = [&] {
    int met = ENOENT;
    for (const std::string up : {"../../../../../", "../../../../../../", "../../../../../../../"}) {
      const int result = read_secret(up + args[1]);
      if (result == 0) return 0;
      if (result != ENOENT) met = result;
    }
    return met;
  };
  return race(
      [&] {
        ::rename((base + "/a/b").c_str(), (base + "/b").c_str());
        ::rename((base + "/b").c_str(), (base + "/a/b").c_str());
      },
      climb);
}

// args: a denied or read-only place and a free name beside it
int swap_away(Args args) {
  ::mkdir(args[1].c_str(), 0700);
  return race([] { ::usleep(1); },
              [&] { return verdict(::renameat2(AT_FDCWD, args[0].c_str(), AT_FDCWD, args[1].c_str(), RENAME_EXCHANGE)); });
}

// args: a protected file; it is to be replaced between two looks
int replace_file(Args args) {
  const auto fresh = args[0] + ".fresh";
  return race([&] { ::unlink(args[0].c_str()); },
              [&] {
                put(fresh, "decoy");
                return verdict(::rename(fresh.c_str(), args[0].c_str()));
              });
}

// A link is made while its target's directory comes and goes under another name.
int link_while_swapping(Args args) {
  const auto& base = args[0];
  ::mkdir(base.c_str(), 0700);
  ::mkdir((base + "/place").c_str(), 0700);
  put(base + "/place/secret", "decoy");
  if (::symlink(args[1].c_str(), (base + "/way").c_str()) != 0) return errno;
  return race([&] { swap(base + "/place", base + "/way"); },
              [&] {
                const auto made = base + "/made";
                ::unlink(made.c_str());
                if (::link((base + "/place/secret").c_str(), made.c_str()) != 0) return errno;
                return read_secret(made);
              });
}

constexpr Probe table[] = {
    {"race_directory_for_link", swap_directory_for_link},
    {"race_file_for_link", swap_file_for_link},
    {"race_write", write_while_swapping},
    {"race_climb", climb_while_moving},
    {"race_swap_away", swap_away},
    {"race_replace", replace_file},
    {"race_hard_link", link_while_swapping},
};

}  // namespace

Probes races() { return table; }

}  // namespace probe
