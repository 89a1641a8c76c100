// SPDX-License-Identifier: Apache-2.0
#include "run/pump.h"

#include <errno.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace harn::run {
namespace {

constexpr std::size_t chunk = 65536;

bool is_regular(int fd) {
  struct stat seen = {};
  return ::fstat(fd, &seen) == 0 && S_ISREG(seen.st_mode);
}

bool try_again() { return errno == EINTR || errno == EAGAIN; }

}  // namespace

OutputPump::OutputPump(sys::UniqueFd from, int to, OutputBudget& budget)
    : from_(std::move(from)), to_(to), regular_(to >= 0 && is_regular(to)), budget_(budget) {}

pollfd OutputPump::interest() const {
  if (!waiting_.empty()) return {.fd = to_, .events = POLLOUT, .revents = 0};
  return {.fd = from_.get(), .events = POLLIN, .revents = 0};
}

void OutputPump::work(short revents) {
  if (revents == 0) return;
  if (!waiting_.empty()) write_some();
  else read_some();
}

// How much there was; 0 when nothing more can be had now.
std::size_t OutputPump::read_some() {
  char buffer[chunk];
  const ssize_t got = ::read(from_.get(), buffer, sizeof buffer);
  if (got < 0 && try_again()) return 0;
  if (got <= 0) {
    from_ = {};
    return 0;
  }
  auto keep = static_cast<std::uint64_t>(got);
  if (budget_.left) {
    if (keep > *budget_.left && !budget_.only_kept) budget_.truncated = true;
    keep = std::min(keep, *budget_.left);
    *budget_.left -= keep;
  }
  const auto told = budget_.only_kept ? static_cast<std::size_t>(got) : static_cast<std::size_t>(keep);
  if (sink_ && told > 0) sink_(std::string_view(buffer, told));
  auto& target = to_ < 0 ? captured_ : waiting_;
  target.append(buffer, static_cast<std::size_t>(keep));
  if (regular_) write_some();
  return static_cast<std::size_t>(got);
}

// A pipe that says it has room takes PIPE_BUF bytes without blocking; more might wait for its reader.
bool OutputPump::write_some() {
  const auto size = regular_ ? waiting_.size() : std::min<std::size_t>(waiting_.size(), PIPE_BUF);
  const ssize_t written = ::write(to_, waiting_.data(), size);
  if (written < 0 && try_again()) return false;
  if (written < 0) {  // nobody reads any more: let the command find out as it would have
    if (errno != EPIPE) write_error_ = errno;
    waiting_.clear();
    from_ = {};
    return false;
  }
  waiting_.erase(0, static_cast<std::size_t>(written));
  return true;
}

void OutputPump::take_rest() {
  int there = 0;
  if (::ioctl(from_.get(), FIONREAD, &there) != 0) there = 0;
  for (auto left = static_cast<std::size_t>(there); from_ && left > 0;) {
    const auto got = read_some();
    if (got == 0 && errno != EINTR) break;
    left -= std::min(left, got);
  }
  from_ = {};
}

InputPump::InputPump(int from, sys::UniqueFd to, sys::UniqueFd unread)
    : from_(from), regular_(is_regular(from)), to_(std::move(to)), unread_(std::move(unread)) {}

InputPump::InputPump(std::string bytes, sys::UniqueFd to) : to_(std::move(to)), waiting_(std::move(bytes)) {
  if (waiting_.empty()) to_ = {};
}

pollfd InputPump::interest() const {
  if (waiting_.empty() && !regular_) return {.fd = from_, .events = POLLIN, .revents = 0};
  return {.fd = to_.get(), .events = POLLOUT, .revents = 0};
}

void InputPump::work(short revents) {
  if (revents == 0) return;
  if (waiting_.empty()) read_some();
  if (!waiting_.empty() && to_) write_some();
}

void InputPump::read_some() {
  waiting_.resize(chunk);
  const ssize_t got = from_ < 0 ? 0 : ::read(from_, waiting_.data(), waiting_.size());
  const bool later = got < 0 && try_again();
  waiting_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (sink_ && !later) sink_(waiting_, got <= 0);
  if (got <= 0 && !later) to_ = {};
}

void InputPump::write_some() {
  const ssize_t written = ::write(to_.get(), waiting_.data(), waiting_.size());
  if (written < 0 && try_again()) return;
  if (written < 0) {  // the command reads no more
    to_ = {};
    return;
  }
  waiting_.erase(0, static_cast<std::size_t>(written));
  if (waiting_.empty() && from_ < 0) to_ = {};
}

void InputPump::give_back() {
  if (!regular_ || !unread_) return;
  int in_pipe = 0;
  if (::ioctl(unread_.get(), FIONREAD, &in_pipe) != 0) return;
  ::lseek(from_, -static_cast<off_t>(waiting_.size()) - in_pipe, SEEK_CUR);
  unread_ = {};
}

}  // namespace harn::run
