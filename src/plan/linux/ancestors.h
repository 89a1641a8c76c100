// SPDX-License-Identifier: Apache-2.0
// Ancestors: what encloses each path of a sorted list, found in one pass. Every lowering asks "what
// holds around this rule?"; with paths visited in component-wise order a stack answers in O(1).
#pragma once

#include <utility>
#include <vector>

#include "harn/path.h"

namespace harn::plan {

template <class T>
class Ancestors {
 public:
  // The innermost entered value at or above `path`; null when none. Paths must come in sorted order.
  T* enclosing(const AbsPath& path) {
    while (!stack_.empty() && !stack_.back().first.contains(path)) stack_.pop_back();
    return stack_.empty() ? nullptr : &stack_.back().second;
  }

  // Where the innermost value was entered; only after enclosing() found one.
  const AbsPath& place() const { return stack_.back().first; }

  void enter(const AbsPath& path, T value) { stack_.emplace_back(path, std::move(value)); }

 private:
  std::vector<std::pair<AbsPath, T>> stack_ = {};
};

}  // namespace harn::plan
