// SPDX-License-Identifier: Apache-2.0
#include "egress/event_loop.h"

#include <errno.h>
#include <sys/epoll.h>

#include <array>

#include "sys/files.h"

namespace harn::egress {

static_assert(event_in == EPOLLIN && event_out == EPOLLOUT && event_err == EPOLLERR && event_hup == EPOLLHUP && event_rdhup == EPOLLRDHUP &&
              event_edge == EPOLLET);

void EventLoop::Watch::stop() {
  if (loop_ == nullptr) return;
  auto& slot = loop_->slots_[slot_];
  ::epoll_ctl(loop_->queue_.get(), EPOLL_CTL_DEL, fd_, nullptr);
  ++slot.generation;
  loop_->ended_.push_back(std::move(slot.callback));
  slot.callback = nullptr;
  loop_->free_.push_back(slot_);
  loop_ = nullptr;
}

Result<EventLoop> EventLoop::make() {
  EventLoop loop;
  loop.queue_ = sys::UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!loop.queue_) return fail(sys::os_failure("epoll_create1", "for the relay", errno, Stage::prepare));
  return loop;
}

bool EventLoop::watch(int fd, std::uint32_t events, Callback callback, Watch& out) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const auto number = free_.back();
  auto& slot = slots_[number];
  epoll_event event = {.events = events, .data = {.u64 = std::uint64_t{slot.generation} << 32 | number}};
  if (::epoll_ctl(queue_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return false;
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
  std::array<epoll_event, 256> events = {};
  const int wait = soon_.empty() ? static_cast<int>(at_most.count()) : 0;
  const int ready = ::epoll_wait(queue_.get(), events.data(), static_cast<int>(events.size()), wait);
  now_ = Clock::now();
  for (int i = 0; i < ready; ++i) {
    const auto tag = events[static_cast<std::size_t>(i)].data.u64;
    auto& slot = slots_[static_cast<std::uint32_t>(tag)];
    if (slot.generation == static_cast<std::uint32_t>(tag >> 32) && slot.callback)
      slot.callback(events[static_cast<std::size_t>(i)].events);
  }
  ended_.clear();
}

}  // namespace harn::egress
