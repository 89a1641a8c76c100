// SPDX-License-Identifier: Apache-2.0
// What was refused, told to the launcher, which knows the policy and the host. Nothing is decided by what is
// told here, and nobody waits for it to be read: what does not fit is counted.
#pragma once

#include <linux/seccomp.h>

#include "run/supervisor/calls.h"

namespace harn::run::supervisor {

class Teller {
 public:
  Teller(const Rules& rules, bool records) : rules_(rules), records_(records) {}

  // After a call was made on behalf and failed, or was looked at and cannot succeed.
  void tell_paths(const Caller& caller, const seccomp_data& call, const Trace& trace, Word error);
  void tell(const Caller& caller, const seccomp_data& call, Wanted wanted, std::string_view text, Word error);
  // What worked, where somebody records it.
  bool records() const { return records_; }
  void record(const Caller& caller, const seccomp_data& call, Wanted wanted, std::string_view text);
  void record_paths(const Caller& caller, const seccomp_data& call, const Trace& trace);

 private:
  bool is_news(const seccomp_data& call, Wanted wanted, std::string_view text, Word error);

  static constexpr int most_known = 1024;
  const Rules& rules_;
  bool records_;
  std::uint64_t known_[most_known] = {};
  std::uint32_t lost_ = 0;
};

}  // namespace harn::run::supervisor
