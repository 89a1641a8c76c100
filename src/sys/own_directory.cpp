// SPDX-License-Identifier: Apache-2.0
#include "sys/own_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/remove_tree.h"

namespace harn::sys {
namespace {

constexpr std::size_t most_names = 4096;  // a parent with more is left as it is
constexpr time_t leftover_seconds = 60;   // younger ones may be about to be locked by whoever made them

// One thread may hold several directories; the last one lets signals in again.
thread_local int holders = 0;
thread_local sigset_t mask_before = {};

void hold_signals() {
  if (holders++ > 0) return;
  sigset_t ending;
  sigemptyset(&ending);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) sigaddset(&ending, number);
  ::pthread_sigmask(SIG_BLOCK, &ending, &mask_before);
}

void let_signals_in() {
  if (--holders == 0) ::pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
}

UniqueFd open_locked(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd = {};
  return fd;
}

void remove_held(const UniqueFd& directory, const AbsPath& path) {
  empty_directory(directory.get());
  ::rmdir(path.text().c_str());
}

void sweep_leftovers(const AbsPath& parent, std::string_view stem) {
  const auto entries = list_entries(parent, most_names);
  if (!entries) return;
  for (const auto& entry : *entries) {
    if (!entry.name.starts_with(stem)) continue;
    const auto path = parent.join(entry.name);
    struct stat status = {};
    if (::lstat(path.text().c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) continue;
    if (status.st_mtime + leftover_seconds > ::time(nullptr)) continue;
    if (const auto directory = open_locked(path.text())) remove_held(directory, path);
  }
}

}  // namespace

Result<OwnDirectory> OwnDirectory::make(const AbsPath& parent, std::string_view stem) {
  hold_signals();
  auto made = keep(parent, stem);
  if (made) made->holds_signals_ = true;
  else let_signals_in();
  return made;
}

Result<OwnDirectory> OwnDirectory::keep(const AbsPath& parent, std::string_view stem) {
  sweep_leftovers(parent, stem);
  std::string pattern = parent.join(std::string(stem) + "XXXXXX").text();
  UniqueFd held;
  if (::mkdtemp(pattern.data()) != nullptr) held = open_locked(pattern);
  if (!held) return fail(os_failure("mkdtemp", pattern, errno));
  OwnDirectory made(AbsPath::of(pattern), std::move(held));
  HARN_TRY(real, real_path(made.path()));
  made.path_ = std::move(real);
  return made;
}

OwnDirectory::~OwnDirectory() {
  if (!held_) return;
  remove_held(held_, path_);
  if (holds_signals_) let_signals_in();
}

}  // namespace harn::sys
