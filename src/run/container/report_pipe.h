// SPDX-License-Identifier: Apache-2.0
// The launcher's end of the named pipe through which the first program of a container reports. Closing
// it ends that program, and with it everything in the container.
#pragma once

#include <optional>

#include "harn/path.h"
#include "harn/result.h"
#include "run/entry/report.h"
#include "sys/unique_fd.h"

namespace harn::run {

class ReportPipe {
 public:
  static Result<ReportPipe> make(const AbsPath& path);

  // Takes what has arrived. The first record is answered unless it found a door open.
  void look();
  void close() { fd_ = {}; }

  bool ready() const { return ready_.has_value(); }
  unsigned doors() const { return ready_ ? ready_->doors : 0; }
  const std::optional<entry::Record>& not_started() const { return not_started_; }
  const std::optional<entry::Record>& ended() const { return ended_; }

 private:
  explicit ReportPipe(sys::UniqueFd fd) : fd_(std::move(fd)) {}

  sys::UniqueFd fd_;
  std::optional<entry::Record> ready_ = {};
  std::optional<entry::Record> not_started_ = {};
  std::optional<entry::Record> ended_ = {};
};

}  // namespace harn::run
