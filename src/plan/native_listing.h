// SPDX-License-Identifier: Apache-2.0
// Aligned text for the listings of native_text.cpp, and the sections several platforms have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harn/plan.h"

namespace harn::plan {

class Listing {
 public:
  // A titled block; blocks are separated by one empty line.
  void section(std::string_view title);
  // "label        value" at the left margin; a value without text is left out.
  void row(std::string_view label, std::string_view value);
  void line(std::size_t indent, std::string_view text);
  // `lead` and words, broken before column 100; further lines stand under the first word.
  void words(std::size_t indent, const std::vector<std::string>& list, std::string_view lead = {});
  // Columns as wide as their widest cell; trailing spaces never appear.
  void table(std::size_t indent, const std::vector<std::vector<std::string>>& rows);

  std::string text() && { return std::move(text_); }

 private:
  std::string text_ = {};
};

// A word as it is, or quoted when it would not stand on a line of its own.
std::string plain_word(std::string_view word);
std::string command_line(const std::vector<std::string>& argv);

// Backend, profile, host, command and working directory, or why nothing runs.
void head_section(Listing& listing, const Plan& plan);
void limits_section(Listing& listing, const LimitPlan& limits);
void egress_section(Listing& listing, const Plan& plan);
// Names only: values may be private, and the plan's JSON has them.
void environment_section(Listing& listing, const EnvPlan& env);
void syscalls_section(Listing& listing, const SyscallFilter& filter);

}  // namespace harn::plan
