// SPDX-License-Identifier: Apache-2.0
// Bytes from one descriptor to another or into memory, never blocking: the supervisor must keep its
// deadlines however slowly somebody reads.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sys/unique_fd.h"

namespace harn::run {

// What may still pass, shared by both outputs. Unset = everything.
struct OutputBudget {
  std::optional<std::uint64_t> left = {};
  bool truncated = false;
  bool only_kept = false;  // of what is told to somebody anyway: the limit is of memory, and cuts nothing off
};

// From the command's pipe to the caller's descriptor or into memory. What exceeds the budget is read
// and dropped, so that the command keeps running.
class OutputPump {
 public:
  OutputPump(sys::UniqueFd from, int to, OutputBudget& budget);  // `to` borrowed; -1 = keep in memory

  // Somebody who is told each piece as it comes.
  void tell(std::function<void(std::string_view)> sink) { sink_ = std::move(sink); }

  bool open() const { return static_cast<bool>(from_) || !waiting_.empty(); }
  // What to wait for now: readable input, or room for what is waiting.
  pollfd interest() const;
  void work(short revents);
  // The command is gone: takes what is already in the pipe, and nothing that comes later.
  void take_rest();
  // Why bytes could not be passed on, as errno; 0 = they were, or their reader had left.
  int write_error() const { return write_error_; }
  // Nobody took it in time.
  void drop_waiting() { waiting_.clear(); }
  std::string take_captured() { return std::move(captured_); }

 private:
  std::size_t read_some();
  bool write_some();

  sys::UniqueFd from_ = {};
  int to_ = -1;
  bool regular_ = false;  // writing to a file does not wait for anybody
  OutputBudget& budget_;
  std::string waiting_ = {};
  std::string captured_ = {};
  std::function<void(std::string_view)> sink_ = {};
  int write_error_ = 0;
};

// From the caller's descriptor or from memory into the command's pipe.
class InputPump {
 public:
  InputPump() = default;
  // `from` borrowed; `unread` is the command's end of the pipe, for give_back().
  InputPump(int from, sys::UniqueFd to, sys::UniqueFd unread = {});
  InputPump(std::string bytes, sys::UniqueFd to);

  // Somebody who is told each piece as it comes, and the end.
  void tell(std::function<void(std::string_view, bool)> sink) { sink_ = std::move(sink); }

  bool open() const { return static_cast<bool>(to_); }
  pollfd interest() const;
  void work(short revents);
  void close() { to_ = {}; }
  // The command is gone: a file continues where it stopped reading, for whoever reads next.
  void give_back();

 private:
  void read_some();
  void write_some();

  int from_ = -1;
  bool regular_ = false;
  sys::UniqueFd to_ = {};
  sys::UniqueFd unread_ = {};
  std::string waiting_ = {};
  std::function<void(std::string_view, bool)> sink_ = {};
};

}  // namespace harn::run
