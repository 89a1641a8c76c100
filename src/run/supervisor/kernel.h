// SPDX-License-Identifier: Apache-2.0
// Small things a program without a library lacks: descriptors that close themselves, texts of a fixed
// size, numbers as digits.
#pragma once

#include <errno.h>
#include <sys/syscall.h>

#include <cstdint>
#include <string_view>

#include "run/child/raw_syscall.h"

namespace harn::run::supervisor {

using child::raw_syscall;
using child::Word;
using child::word_of;

class Fd {
 public:
  Fd() = default;
  explicit Fd(Word number) : number_(static_cast<int>(number < 0 ? -1 : number)) {}
  Fd(Fd&& other) noexcept : number_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      number_ = other.release();
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { close(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  void close() const {
    if (number_ >= 0) raw_syscall(SYS_close, number_);
  }
  int number_ = -1;
};

// Text with a closing zero. What does not fit marks it as broken, and everything asked of it fails then.
template <std::size_t capacity>
class Text {
 public:
  Text() { bytes_[0] = '\0'; }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  Text& clear() {
    size_ = 0;
    bytes_[0] = '\0';
    fits_ = true;
    return *this;
  }
  Text& add(std::string_view more) {
    if (more.size() >= capacity - size_) {
      fits_ = false;
      return *this;
    }
    __builtin_memmove(bytes_ + size_, more.data(), more.size());
    size_ += more.size();
    bytes_[size_] = '\0';
    return *this;
  }
  Text& add_number(std::uint64_t number) {
    char digits[20];
    std::size_t count = 0;
    do {
      digits[sizeof digits - ++count] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return add({digits + sizeof digits - count, count});
  }
  void cut(std::size_t size) { bytes_[size_ = size] = '\0'; }

  char* bytes() { return bytes_; }
  const char* c_str() const { return bytes_; }
  std::string_view view() const { return {bytes_, size_}; }
  bool fits() const { return fits_; }
  static constexpr std::size_t room() { return capacity; }

 private:
  char bytes_[capacity];
  std::size_t size_ = 0;
  bool fits_ = true;
};

inline constexpr std::size_t longest_path = 4096;  // PATH_MAX, with the closing zero
using PathText = Text<longest_path>;
using ShortText = Text<64>;

// "/proc/self/fd/7": the object itself, whatever its name is by now.
inline ShortText& own_descriptor(int fd, ShortText& text) {
  text.clear().add("/proc/self/fd/").add_number(static_cast<std::uint64_t>(fd));
  return text;
}

// Leading digits; how many characters they are comes back, 0 when there are none.
inline std::size_t read_number(std::string_view text, std::uint64_t& number) {
  std::size_t at = 0;
  number = 0;
  while (at < text.size() && at < 10 && text[at] >= '0' && text[at] <= '9')
    number = number * 10 + static_cast<std::uint64_t>(text[at++] - '0');
  return at;
}

}  // namespace harn::run::supervisor
