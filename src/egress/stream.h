// SPDX-License-Identifier: Apache-2.0
// One direction of a connection: every byte of one socket into another, in order, and its end as an end.
// Little goes through a buffer; much goes through a pipe, where the kernel moves pages instead of copying.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sys/unique_fd.h"

namespace harn::egress {

struct Pipe {
  sys::UniqueFd reader = {};
  sys::UniqueFd writer = {};
};

// A few pipes for whoever moves much. The kernel gives each user only so many pages for them.
class PipePool {
 public:
  bool take(Pipe& out);
  void give_back(Pipe pipe) { spare_.push_back(std::move(pipe)); }
  void forget_one() { --made_; }  // closed with bytes in it

 private:
  std::vector<Pipe> spare_ = {};
  std::size_t made_ = 0;
};

class Stream {
 public:
  enum class State : std::uint8_t {
    waiting,  // for either socket
    busy,     // more could be moved at once; others first
    done,     // the end was passed on
    broken    // one of the sockets is
  };

  // What is already known about the sockets; move() finds out the rest.
  bool readable = true;
  bool writable = true;

  // Bytes to be sent before anything that is read.
  void prepend(std::string bytes) { held_ += bytes; }
  State move(int from, int to, PipePool& pool);
  std::uint64_t moved() const { return moved_; }
  bool done() const { return done_; }
  // Nothing will be moved any more.
  void release(PipePool& pool);

 private:
  State flush(int to);
  State fill(int from, int to);
  State pass(std::string_view bytes, int to);
  bool empty() const { return held_.size() == sent_ && piped_ == 0; }

  std::string held_ = {};  // read, not yet written from sent_ on
  std::size_t sent_ = 0;
  Pipe pipe_ = {};
  std::size_t piped_ = 0;
  std::uint64_t moved_ = 0;
  unsigned full_reads_ = 0;
  bool ended_ = false;
  bool done_ = false;
};

}  // namespace harn::egress
