// SPDX-License-Identifier: Apache-2.0
#include "egress/event_loop.h"

#include <errno.h>
#include <sys/epoll.h>

#include "sys/files.h"

namespace harn::egress {

static_assert(event_in == EPOLLIN && event_out == EPOLLOUT && event_err == EPOLLERR && event_hup == EPOLLHUP && event_rdhup == EPOLLRDHUP &&
              event_edge == EPOLLET);

Result<EventLoop> EventLoop::make() {
  EventLoop loop;
  loop.queue_ = sys::UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!loop.queue_) return fail(sys::os_failure("epoll_create1", "for the relay", errno, Stage::prepare));
  return loop;
}

bool EventLoop::remember(int fd, std::uint32_t events, std::uint64_t tag) {
  epoll_event event = {.events = events, .data = {.u64 = tag}};
  return ::epoll_ctl(queue_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void EventLoop::forget(int fd) { ::epoll_ctl(queue_.get(), EPOLL_CTL_DEL, fd, nullptr); }

int EventLoop::wait(std::chrono::milliseconds at_most, std::array<Told, most_told>& told) {
  std::array<epoll_event, most_told> events;
  const int ready = ::epoll_wait(queue_.get(), events.data(), static_cast<int>(events.size()), static_cast<int>(at_most.count()));
  for (std::size_t i = 0; std::cmp_less(i, ready); ++i) told[i] = {events[i].data.u64, events[i].events};
  return ready;
}

}  // namespace harn::egress
