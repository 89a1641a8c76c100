// SPDX-License-Identifier: Apache-2.0
// The thread whose system call was trapped. Everything it may change while we look — its memory, its
// descriptors, its very existence — is taken once, and believed only while the call is still waiting.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/supervisor/kernel.h"

namespace harn::run::supervisor {

class Caller {
 public:
  Caller(int listener, std::uint64_t id, std::uint32_t thread) : listener_(listener), id_(id), thread_(thread) {}

  // Its call still waits, so what was read through its number was its own.
  bool waits() const;

  // 0 or -errno. A text that has no end within the room is -ENAMETOOLONG.
  Word read(std::uint64_t from, void* into, std::size_t size) const;
  // Into memory it named itself, while its call waits.
  Word write(std::uint64_t to, const void* from, std::size_t size) const;
  Word read_text(std::uint64_t from, char* into, std::size_t room, std::size_t& length) const;
  template <std::size_t capacity>
  Word read_text(std::uint64_t from, Text<capacity>& into) const {
    std::size_t length = 0;
    into.clear();
    const Word result = read_text(from, into.bytes(), capacity, length);
    into.cut(result == 0 ? length : 0);
    return result;
  }

  // As O_PATH descriptors of ours; -EBADF when it has no such descriptor.
  Word open_directory(int descriptor, Fd& out) const;  // AT_FDCWD or a number
  Word open_object(int descriptor, Fd& out) const;
  // The descriptor itself, as one of ours: what is done to it is done to the caller's.
  Word copy(int descriptor, Fd& out) const;

  std::uint32_t thread() const { return thread_; }
  // Out of /proc; 0 when it is gone.
  std::uint32_t process() const;
  // -errno when it cannot be told.
  Word umask() const;

 private:
  Word status_number(std::string_view name, unsigned base, std::uint64_t& number) const;

  int listener_;
  std::uint64_t id_;
  std::uint32_t thread_;
};

}  // namespace harn::run::supervisor
