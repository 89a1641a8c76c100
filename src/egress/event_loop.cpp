// SPDX-License-Identifier: Apache-2.0
// Who is called back for what. The kernel's queue itself is beneath linux/ and unix/.
#include "egress/event_loop.h"

namespace harn::egress {

void EventLoop::Watch::stop() {
  if (loop_ == nullptr) return;
  auto& slot = loop_->slots_[slot_];
  loop_->forget(fd_);
  ++slot.generation;
  loop_->ended_.push_back(std::move(slot.callback));
  slot.callback = nullptr;
  loop_->free_.push_back(slot_);
  loop_ = nullptr;
}

bool EventLoop::watch(int fd, std::uint32_t events, Callback callback, Watch& out) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const auto number = free_.back();
  auto& slot = slots_[number];
  if (!remember(fd, events, std::uint64_t{slot.generation} << 32 | number)) return false;
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
  std::array<Told, most_told> told = {};
  const int ready = wait(soon_.empty() ? at_most : std::chrono::milliseconds(0), told);
  now_ = Clock::now();
  for (int i = 0; i < ready; ++i) {
    const auto& [tag, events] = told[static_cast<std::size_t>(i)];
    auto& slot = slots_[static_cast<std::uint32_t>(tag)];
    if (slot.generation == static_cast<std::uint32_t>(tag >> 32) && slot.callback) slot.callback(events);
  }
  ended_.clear();
}

}  // namespace harn::egress
