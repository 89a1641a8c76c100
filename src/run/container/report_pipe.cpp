// SPDX-License-Identifier: Apache-2.0
#include "run/container/report_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/files.h"

namespace harn::run {
namespace {

// The program inside may have another number for its user than we have here.
constexpr mode_t anybody_writes = S_IRUSR | S_IWUSR | S_IWGRP | S_IWOTH;

}  // namespace

Result<ReportPipe> ReportPipe::make(const AbsPath& path) {
  const auto& text = path.text();
  if (::mkfifo(text.c_str(), anybody_writes) != 0 || ::chmod(text.c_str(), anybody_writes) != 0)
    return fail(sys::os_failure("mkfifo", text, errno, Stage::prepare));
  sys::UniqueFd fd(::open(text.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return fail(sys::os_failure("open", text, errno, Stage::prepare));
  return ReportPipe(std::move(fd));
}

void ReportPipe::look() {
  entry::Record record;
  while (fd_ && ::read(fd_.get(), &record, sizeof record) == static_cast<ssize_t>(sizeof record)) {
    if (record.kind == entry::Record::ready && !ready_) {
      ready_ = record;
      // From here on nobody else can open it, and only from here on a command runs.
      if (record.doors != 0 || ::fchmod(fd_.get(), 0) != 0) return close();
    } else if (record.kind == entry::Record::not_started) not_started_ = record;
    else if (record.kind == entry::Record::ended) ended_ = record;
  }
}

}  // namespace harn::run
