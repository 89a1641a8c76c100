// SPDX-License-Identifier: Apache-2.0
// Lays out a child script: steps with stable texts, and beside each a sentence for the person who
// must read which one failed.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "run/child/script.h"
#include "sys/unique_fd.h"

namespace harn::run {

// Owns what steps point to; outlives the child by construction.
class Keep {
 public:
  const char* text(std::string_view text) { return texts_.emplace_back(text).c_str(); }
  int fd(sys::UniqueFd fd) {
    const int number = fd.get();
    fds_.push_back(std::move(fd));
    return number;
  }
  // The children have copies of their own.
  void close_fds() { fds_.clear(); }

 private:
  std::deque<std::string> texts_ = {};
  std::vector<sys::UniqueFd> fds_ = {};
};

class ScriptWriter {
 public:
  explicit ScriptWriter(Keep& keep) : keep_(&keep) {}

  void add(child::Step step, std::string label) {
    steps_.push_back(step);
    labels_.push_back(std::move(label));
  }
  Keep& keep() { return *keep_; }
  const char* text(std::string_view text) { return keep_->text(text); }

  child::Script script() const { return {.steps = steps_.data(), .count = steps_.size()}; }
  const std::vector<std::string>& labels() const { return labels_; }
  const std::vector<child::Step>& steps() const { return steps_; }

 private:
  Keep* keep_;
  std::vector<child::Step> steps_ = {};
  std::vector<std::string> labels_ = {};
};

}  // namespace harn::run
