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
    while (depth_ != 0 && !stack_[depth_ - 1].first.contains(path)) --depth_;
    return depth_ == 0 ? nullptr : &stack_[depth_ - 1].second;
  }

  // Where the innermost value was entered; only after enclosing() found one.
  const AbsPath& place() const { return stack_[depth_ - 1].first; }

  void enter(const AbsPath& path, T value) {
    if (depth_ == stack_.size()) stack_.emplace_back();
    stack_[depth_].first = path;
    stack_[depth_].second = std::move(value);
    ++depth_;
  }

 private:
  std::vector<std::pair<AbsPath, T>> stack_ = {};  // entries past depth_ are left, and keep their memory for the next
  std::size_t depth_ = 0;
};

}  // namespace harn::plan
