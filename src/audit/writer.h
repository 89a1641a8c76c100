// SPDX-License-Identifier: Apache-2.0
// Appending: under the lock of the anchor, announce, write, settle; then, where a power failure must not
// undo it, wait until it is on the disk together with whatever others wrote meanwhile.
#pragma once

#include <mutex>

#include "audit/anchor.h"
#include "audit/files.h"
#include "harn/audit.h"

namespace harn {

class AuditLog::Writer {
 public:
  explicit Writer(AuditLogOptions options) : options_(std::move(options)) {}

  Status append(std::span<const AuditEvent> events);
  Result<std::string> start_sealing(bool replace);

 private:
  struct Pending;  // one append on its way

  Status open_anchor();
  Status open_segment(const audit::End& end);
  Status begin_log(Pending& pending);
  Status find_end(Pending& pending);
  Status make_room(Pending& pending);
  Status write_out(Pending& pending);
  Status settle(audit::Slot& slot);
  void take_back(const Pending& pending);
  Status sync(std::uint64_t count);
  Status append_locked(std::span<const AuditEvent> events, const std::string* new_key);

  AuditLogOptions options_;
  std::mutex mutex_ = {};
  sys::UniqueFd anchor_ = {};
  sys::UniqueFd segment_ = {};
  std::uint64_t segment_first_ = 0;  // the file segment_ is
  int opened_by_ = 0;                // a lock belongs to the open file: after fork() it would exclude nobody
};

}  // namespace harn
