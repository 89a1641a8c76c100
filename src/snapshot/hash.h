// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace harn::snapshot {

// BLAKE2b with 32 bytes, as 64 hex digits.
class Hash {
 public:
  Hash();
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;
  ~Hash();
  void add(std::string_view bytes);
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace harn::snapshot
