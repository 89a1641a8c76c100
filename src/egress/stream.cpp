// SPDX-License-Identifier: Apache-2.0
#include "egress/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "egress/sockets.h"

namespace harn::egress {
namespace {

constexpr std::size_t piece = 65536;
constexpr std::size_t pipe_bytes = std::size_t{512} << 10;  // at one time; a pipe that holds less takes less
constexpr std::size_t most_pipes = 256;
constexpr std::size_t most_large_pipes = 16;  // a user has 64 MiB for all pipes, and who is beyond that gets very small ones
constexpr std::uint64_t most_in_turn = std::uint64_t{1} << 20;
constexpr unsigned reads_that_make_much = 4;
constexpr int pieces_in_turn = 16;

bool must_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

bool PipePool::take(Pipe& out) {
  if (!spare_.empty()) {
    out = std::move(spare_.back());
    spare_.pop_back();
    return true;
  }
  if (made_ >= most_pipes) return false;
  Pipe made;
  if (!open_pool_pipe(made.reader, made.writer, made_ < most_large_pipes ? pipe_bytes : 0)) return false;
  out = std::move(made);
  ++made_;
  return true;
}

Stream::State Stream::flush(int to) {
  while (sent_ < held_.size()) {
    const auto got = ::send(to, held_.data() + sent_, held_.size() - sent_, no_signal | MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && must_wait(errno)) {
      writable = false;
      return State::waiting;
    }
    if (got < 0) return State::broken;
    sent_ += static_cast<std::size_t>(got);
    moved_ += static_cast<std::uint64_t>(got);
  }
  held_.clear();
  sent_ = 0;
  while (piped_ > 0) {
    const auto got = move_bytes(pipe_.reader.get(), to, piped_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && must_wait(errno)) {
      writable = false;
      return State::waiting;
    }
    if (got <= 0) return State::broken;
    piped_ -= static_cast<std::size_t>(got);
    moved_ += static_cast<std::uint64_t>(got);
  }
  return State::busy;
}

// Only what the other side does not take at once is kept.
Stream::State Stream::pass(std::string_view bytes, int to) {
  while (!bytes.empty()) {
    const auto got = ::send(to, bytes.data(), bytes.size(), no_signal | MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && must_wait(errno)) {
      writable = false;
      held_.assign(bytes);
      return State::waiting;
    }
    if (got < 0) return State::broken;
    moved_ += static_cast<std::uint64_t>(got);
    bytes.remove_prefix(static_cast<std::size_t>(got));
  }
  return State::busy;
}

Stream::State Stream::fill(int from, int to) {
  if (pipe_.reader) {
    const auto got = move_bytes(from, pipe_.writer.get(), pipe_bytes);
    if (got > 0) {
      piped_ += static_cast<std::size_t>(got);
      return State::busy;
    }
    if (got == 0) {
      ended_ = true;
      return State::busy;
    }
    if (errno == EINTR) return State::busy;
    if (!must_wait(errno)) return State::broken;
    readable = false;
    return State::waiting;
  }
  static thread_local std::array<char, piece> buffer;
  const auto got = ::recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && errno == EINTR) return State::busy;
  if (got < 0 && must_wait(errno)) {
    readable = false;
    return State::waiting;
  }
  if (got < 0) return State::broken;
  if (got == 0) ended_ = true;
  full_reads_ = static_cast<std::size_t>(got) == buffer.size() ? full_reads_ + 1 : 0;
  return pass(std::string_view(buffer.data(), static_cast<std::size_t>(got)), to);
}

Stream::State Stream::move(int from, int to, PipePool& pool) {
  if (done_) return State::done;
  const auto before = moved_;
  for (int turn = 0; turn < pieces_in_turn && moved_ - before < most_in_turn; ++turn) {
    if (!empty()) {
      if (!writable) return State::waiting;
      if (const auto state = flush(to); state != State::busy) return state;
    }
    if (ended_) {
      done_ = true;
      release(pool);
      return ::shutdown(to, SHUT_WR) == 0 || errno == ENOTCONN ? State::done : State::broken;
    }
    if (full_reads_ >= reads_that_make_much && !pipe_.reader) pool.take(pipe_);
    if (!readable) return State::waiting;
    if (const auto state = fill(from, to); state != State::busy) return state;
  }
  return State::busy;
}

void Stream::release(PipePool& pool) {
  if (!pipe_.reader) return;
  if (piped_ == 0) pool.give_back(std::move(pipe_));
  else pool.forget_one();
  pipe_ = {};
  piped_ = 0;
}

}  // namespace harn::egress
