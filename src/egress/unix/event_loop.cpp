// SPDX-License-Identifier: Apache-2.0
// kqueue: reading and writing are two filters of one descriptor. Each change is told once (EV_CLEAR) where a watch asks for it.
#include "egress/event_loop.h"

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <sys/time.h>
#include <unistd.h>

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

Result<EventLoop> EventLoop::make() {
  EventLoop loop;
  loop.queue_ = sys::UniqueFd(::kqueue());
  if (!loop.queue_ || ::fcntl(loop.queue_.get(), F_SETFD, FD_CLOEXEC) != 0)
    return fail(sys::os_failure("kqueue", "for the relay", errno, Stage::prepare));
  return loop;
}

bool EventLoop::remember(int fd, std::uint32_t events, std::uint64_t tag) {
  const unsigned flags = EV_ADD | ((events & event_edge) != 0 ? EV_CLEAR : 0u);
  std::array<struct kevent, 2> wanted = {};
  int count = 0;
  if ((events & event_in) != 0) wanted[static_cast<std::size_t>(count++)] = change(fd, EVFILT_READ, flags, tag);
  if ((events & event_out) != 0) wanted[static_cast<std::size_t>(count++)] = change(fd, EVFILT_WRITE, flags, tag);
  return ::kevent(queue_.get(), wanted.data(), count, nullptr, 0, nullptr) == 0;
}

void EventLoop::forget(int fd) {
  for (const std::int16_t filter : {std::int16_t{EVFILT_READ}, std::int16_t{EVFILT_WRITE}}) {
    const auto gone = change(fd, filter, EV_DELETE, 0);
    ::kevent(queue_.get(), &gone, 1, nullptr, 0, nullptr);  // a filter that was never there is no harm
  }
}

int EventLoop::wait(std::chrono::milliseconds at_most, std::array<Told, most_told>& told) {
  std::array<struct kevent, most_told> events = {};
  const timespec limit = {.tv_sec = static_cast<time_t>(at_most.count() / 1000),
                          .tv_nsec = static_cast<long>(at_most.count() % 1000) * 1'000'000};
  const int ready = ::kevent(queue_.get(), nullptr, 0, events.data(), static_cast<int>(events.size()), &limit);
  for (std::size_t i = 0; std::cmp_less(i, ready); ++i) told[i] = {reinterpret_cast<std::uint64_t>(events[i].udata), events_of(events[i])};
  return ready;
}

}  // namespace harn::egress
