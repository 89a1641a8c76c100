// SPDX-License-Identifier: Apache-2.0
// One queue of the kernel (epoll, kqueue), one thread. A watch calls back until it is destroyed, also from within its own callback.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "harn/result.h"
#include "sys/unique_fd.h"

namespace harn::egress {

using Clock = std::chrono::steady_clock;

// What a watch waits for and is told; epoll's own numbers.
inline constexpr std::uint32_t event_in = 0x001;
inline constexpr std::uint32_t event_out = 0x004;
inline constexpr std::uint32_t event_err = 0x008;
inline constexpr std::uint32_t event_hup = 0x010;
inline constexpr std::uint32_t event_rdhup = 0x2000;
inline constexpr std::uint32_t event_edge = 1u << 31;  // only once for each change

class EventLoop {
 public:
  using Callback = std::function<void(std::uint32_t events)>;

  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)), fd_(other.fd_), slot_(other.slot_) {}
    Watch& operator=(Watch&& other) noexcept {
      std::swap(loop_, other.loop_);
      std::swap(fd_, other.fd_);
      std::swap(slot_, other.slot_);
      return *this;
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() { stop(); }
    void stop();

   private:
    friend class EventLoop;
    EventLoop* loop_ = nullptr;
    int fd_ = -1;
    std::uint32_t slot_ = 0;
  };

  static Result<EventLoop> make();

  // False when the kernel has no room for it.
  [[nodiscard]] bool watch(int fd, std::uint32_t events, Callback callback, Watch& out);
  // Called once, before the loop waits again.
  void soon(std::function<void()> work) { soon_.push_back(std::move(work)); }
  // Waits at most this long, calls everybody once. The time of `now()` is taken here.
  void turn(std::chrono::milliseconds at_most);
  Clock::time_point now() const { return now_; }

 private:
  static constexpr std::size_t most_told = 256;
  struct Told {
    std::uint64_t tag = 0;
    std::uint32_t events = 0;
  };
  // Of the kernel's queue.
  bool remember(int fd, std::uint32_t events, std::uint64_t tag);
  void forget(int fd);
  int wait(std::chrono::milliseconds at_most, std::array<Told, most_told>& told);

  struct Slot {
    std::uint32_t generation = 0;
    Callback callback = {};
  };
  sys::UniqueFd queue_ = {};
  std::deque<Slot> slots_ = {};
  std::vector<std::uint32_t> free_ = {};
  std::vector<Callback> ended_ = {};  // may still be running
  std::vector<std::function<void()>> soon_ = {};
  Clock::time_point now_ = Clock::now();
};

}  // namespace harn::egress
