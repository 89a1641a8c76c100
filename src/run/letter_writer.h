// SPDX-License-Identifier: Apache-2.0
// Scripts as a letter to a keeper (run/keeper/protocol.h): texts, lists and steps laid one after the other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "run/keeper/protocol.h"
#include "run/script_writer.h"

namespace harn::run {

class LetterWriter {
 public:
  LetterWriter() : bytes_(sizeof(keeper::Letter), '\0') {}

  // Places of what was added; see keeper::Letter.
  std::uint64_t steps(const ScriptWriter& script);
  std::uint64_t texts(std::span<char* const> list);

  // The whole letter, with `head` in front. Its descriptors keep belonging to whoever opened them.
  std::string finish(keeper::Letter head) &&;
  const std::vector<int>& fds() const { return fds_; }
  // Where in the list this one stands, or is put.
  int place_of(int fd);

 private:
  std::uint64_t add(const void* data, std::size_t size, std::size_t alignment);
  std::uint64_t text(const char* text);

  std::string bytes_;
  std::vector<int> fds_ = {};
};

}  // namespace harn::run
