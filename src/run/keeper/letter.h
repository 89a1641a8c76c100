// SPDX-License-Identifier: Apache-2.0
// Reading a letter where it lies: places become pointers, and whatever does not lie inside makes it void.
#pragma once

#include <linux/filter.h>

#include "run/keeper/protocol.h"

namespace harn::run::keeper {

class Reader {
 public:
  // `fds` are the numbers the letter's descriptors have here.
  Reader(char* base, std::uint32_t bytes, const int* fds, unsigned fd_count) : base_(base), bytes_(bytes), fds_(fds), fd_count_(fd_count) {}

  bool valid() const { return valid_; }

  template <class T>
  T* at(std::uint64_t place, std::uint64_t count = 1) {
    if (place == 0) return nullptr;
    if (place % alignof(T) != 0 || place >= bytes_ || count > (bytes_ - place) / sizeof(T)) {
      valid_ = false;
      return nullptr;
    }
    return reinterpret_cast<T*>(base_ + place);
  }

  // Texts that end inside: the last byte of every letter is zero.
  char* text(const void* place) { return at<char>(reinterpret_cast<std::uint64_t>(place)); }

  char** texts(std::uint64_t place, std::uint64_t count) {
    auto** list = at<char*>(place, count);
    for (std::uint64_t i = 0; valid_ && list != nullptr && i < count; ++i) list[i] = text(list[i]);
    return list;
  }

  // How many there are before the closing 0.
  std::uint64_t length(std::uint64_t place) {
    const auto* list = at<std::uint64_t>(place);
    if (list == nullptr) return 0;
    const std::uint64_t room = (bytes_ - place) / sizeof(std::uint64_t);
    for (std::uint64_t i = 0; i < room; ++i)
      if (list[i] == 0) return i;
    valid_ = false;
    return 0;
  }

  child::Step* steps(std::uint64_t place, std::uint32_t count) {
    auto* list = at<child::Step>(place, count);
    for (std::uint32_t i = 0; valid_ && list != nullptr && i < count; ++i) settle(list[i]);
    return list;
  }

 private:
  void settle(child::Step& step) {
    using child::Op;
    step.text = text(step.text);
    step.other = text(step.other);
    switch (step.op) {
      case Op::write_fd:
      case Op::move_fd:
      case Op::landlock_rule:
      case Op::landlock_enforce:
      case Op::refuse_open_at:
        valid_ = valid_ && step.number >= 0 && static_cast<unsigned>(step.number) < fd_count_;
        if (valid_) step.number = fds_[step.number];
        break;
      case Op::syscall_filter: {
        auto* program = at<sock_fprog>(reinterpret_cast<std::uint64_t>(step.pointer));
        if (program == nullptr) return void(valid_ = false);
        program->filter = at<sock_filter>(reinterpret_cast<std::uint64_t>(program->filter), program->len);
        step.pointer = program;
        break;
      }
      default: step.pointer = nullptr;
    }
  }

  char* base_;
  std::uint32_t bytes_;
  const int* fds_;
  unsigned fd_count_;
  bool valid_ = true;
};

}  // namespace harn::run::keeper
