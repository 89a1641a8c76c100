// SPDX-License-Identifier: Apache-2.0
// Which pledge(2) promises a confined command gets, each with its reason, as data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace harn::plan {

enum class PromiseWhen : std::uint8_t {
  always,
  writes,
  network,
  sockets
};

struct Promise {
  std::string_view name;
  PromiseWhen when;
  std::string_view why;
};
std::span<const Promise> promise_table();

// What the situation is; `always` holds in every one.
struct PromiseNeeds {
  bool writes = false;
  bool network = false;
  bool sockets = false;
};
std::vector<std::string> promises_for(const PromiseNeeds& needs);

}  // namespace harn::plan
