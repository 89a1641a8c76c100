// SPDX-License-Identifier: Apache-2.0
#include "run/letter_writer.h"

#include <linux/filter.h>

#include <algorithm>
#include <cstring>

namespace harn::run {

using child::Op;
using child::Step;

std::uint64_t LetterWriter::add(const void* data, std::size_t size, std::size_t alignment) {
  bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment, '\0');
  const auto place = bytes_.size();
  bytes_.append(static_cast<const char*>(data), size);
  return place;
}

std::uint64_t LetterWriter::text(const char* text) { return text == nullptr ? 0 : add(text, std::strlen(text) + 1, 1); }

int LetterWriter::place_of(int fd) {
  const auto found = std::ranges::find(fds_, fd);
  if (found != fds_.end()) return static_cast<int>(found - fds_.begin());
  fds_.push_back(fd);
  return static_cast<int>(fds_.size()) - 1;
}

std::uint64_t LetterWriter::texts(std::span<char* const> list) {
  std::vector<std::uint64_t> places;
  for (const char* entry : list) places.push_back(text(entry));
  return add(places.data(), places.size() * sizeof(std::uint64_t), alignof(std::uint64_t));
}

std::uint64_t LetterWriter::steps(const ScriptWriter& script) {
  auto steps = script.steps();
  const auto at = [](std::uint64_t place) { return reinterpret_cast<const char*>(static_cast<std::uintptr_t>(place)); };
  for (auto& step : steps) {
    step.text = at(text(step.text));
    step.other = at(text(step.other));
    const bool speaks_of_fd = step.op == Op::write_fd || step.op == Op::move_fd || step.op == Op::landlock_rule ||
                              step.op == Op::landlock_enforce || step.op == Op::refuse_open_at;
    if (speaks_of_fd) step.number = place_of(step.number);
    if (step.op != Op::syscall_filter) {
      step.pointer = nullptr;
      continue;
    }
    auto program = *static_cast<const sock_fprog*>(step.pointer);
    const auto code = add(program.filter, program.len * sizeof(sock_filter), alignof(std::uint64_t));
    program.filter = reinterpret_cast<sock_filter*>(static_cast<std::uintptr_t>(code));
    step.pointer = at(add(&program, sizeof program, alignof(sock_fprog)));
  }
  return add(steps.data(), steps.size() * sizeof(Step), alignof(Step));
}

std::string LetterWriter::finish(keeper::Letter head) && {
  bytes_.push_back('\0');
  head.bytes = static_cast<std::uint32_t>(bytes_.size());
  std::memcpy(bytes_.data(), &head, sizeof head);
  return std::move(bytes_);
}

}  // namespace harn::run
