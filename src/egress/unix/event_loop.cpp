// SPDX-License-Identifier: Apache-2.0
// kqueue: reading and writing are two filters of one descriptor. Each change is told once (EV_CLEAR) where a watch asks for it.
#include "egress/event_loop.h"

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>

#include "sys/files.h"

namespace harn::egress {
namespace {

struct kevent change(int fd, std::int16_t filter, unsigned flags, std::uint64_t tag) {
  struct kevent out = {};
  EV_SET(&out, static_cast<std::uintptr_t>(fd), filter, static_cast<std::uint16_t>(flags), 0, 0, reinterpret_cast<void*>(tag));
  return out;
}

std::uint32_t events_of(const struct kevent& told) {
  std::uint32_t out = told.filter == EVFILT_READ ? event_in : event_out;
  if ((told.flags & EV_EOF) != 0) out |= told.filter == EVFILT_READ ? event_rdhup : event_hup;
  if ((told.flags & EV_EOF) != 0 && told.fflags != 0) out |= event_err;  // why the socket ended
  if ((told.flags & EV_ERROR) != 0) out |= event_err;
  return out;
}

}  // namespace

void EventLoop::Watch::stop() {
  if (loop_ == nullptr) return;
  auto& slot = loop_->slots_[slot_];
  for (const std::int16_t filter : {std::int16_t{EVFILT_READ}, std::int16_t{EVFILT_WRITE}}) {
    const auto gone = change(fd_, filter, EV_DELETE, 0);
    ::kevent(loop_->queue_.get(), &gone, 1, nullptr, 0, nullptr);  // a filter that was never there is no harm
  }
  ++slot.generation;
  loop_->ended_.push_back(std::move(slot.callback));
  slot.callback = nullptr;
  loop_->free_.push_back(slot_);
  loop_ = nullptr;
}

Result<EventLoop> EventLoop::make() {
  EventLoop loop;
  loop.queue_ = sys::UniqueFd(::kqueue());
  if (!loop.queue_ || ::fcntl(loop.queue_.get(), F_SETFD, FD_CLOEXEC) != 0)
    return fail(sys::os_failure("kqueue", "for the relay", errno, Stage::prepare));
  return loop;
}

bool EventLoop::watch(int fd, std::uint32_t events, Callback callback, Watch& out) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const auto number = free_.back();
  auto& slot = slots_[number];
  const auto tag = std::uint64_t{slot.generation} << 32 | number;
  const unsigned flags = EV_ADD | ((events & event_edge) != 0 ? EV_CLEAR : 0u);
  std::array<struct kevent, 2> wanted = {};
  int count = 0;
  if ((events & event_in) != 0) wanted[static_cast<std::size_t>(count++)] = change(fd, EVFILT_READ, flags, tag);
  if ((events & event_out) != 0) wanted[static_cast<std::size_t>(count++)] = change(fd, EVFILT_WRITE, flags, tag);
  if (::kevent(queue_.get(), wanted.data(), count, nullptr, 0, nullptr) != 0) return false;
  free_.pop_back();
  slot.callback = std::move(callback);
  Watch made;
  made.loop_ = this;
  made.fd_ = fd;
  made.slot_ = number;
  out = std::move(made);
  return true;
}

void EventLoop::turn(std::chrono::milliseconds at_most) {
  // Before anything new: what has ended must not count any more when the next connection comes.
  for (auto& work : std::exchange(soon_, {})) work();
  std::array<struct kevent, 256> told = {};
  const auto wait = soon_.empty() ? at_most : std::chrono::milliseconds(0);
  const timespec limit = {.tv_sec = static_cast<time_t>(wait.count() / 1000),
                          .tv_nsec = static_cast<long>(wait.count() % 1000) * 1'000'000};
  const int ready = ::kevent(queue_.get(), nullptr, 0, told.data(), static_cast<int>(told.size()), &limit);
  now_ = Clock::now();
  for (int i = 0; i < ready; ++i) {
    const auto& event = told[static_cast<std::size_t>(i)];
    const auto tag = reinterpret_cast<std::uint64_t>(event.udata);
    auto& slot = slots_[static_cast<std::uint32_t>(tag)];
    if (slot.generation == static_cast<std::uint32_t>(tag >> 32) && slot.callback) slot.callback(events_of(event));
  }
  ended_.clear();
}

}  // namespace harn::egress
