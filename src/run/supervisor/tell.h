// SPDX-License-Identifier: Apache-2.0
// What was refused, told to the launcher, which knows the policy and the host. Nothing is decided by what is
// told here, and nobody waits for it to be read: what does not fit is counted.
#pragma once

#include <linux/seccomp.h>

#include "run/supervisor/calls.h"

namespace harn::run::supervisor {

// What a call wants of its path number `index`, which is there or not.
Wanted wanted_of_call(const seccomp_data& call, int index, bool there);

class Teller {
 public:
  Teller(const Rules& rules, bool records) : rules_(rules), records_(records) {}

  // After a call was made on behalf and failed, or was looked at and cannot succeed.
  void tell_paths(const Caller& caller, const seccomp_data& call, const Trace& trace, Word error);
  void tell(const Caller& caller, const seccomp_data& call, Wanted wanted, std::string_view text, Word error);
  // Whether a failure is worth a word: a refusal, or something missing where not everything is shown.
  bool concerns(std::string_view path, Word error) const;
  // The same as a question; false when nobody can take it.
  bool ask(const Caller& caller, const seccomp_notif& call, Wanted wanted, std::string_view text, Word error);
  static void withdraw(std::uint64_t question);
  // What worked, where somebody records it.
  bool records() const { return records_; }
  void record(const Caller& caller, const seccomp_data& call, Wanted wanted, std::string_view text);
  void record_paths(const Caller& caller, const seccomp_data& call, const Trace& trace);

 private:
  bool send(const Caller& caller, const seccomp_data& call, const Refusal& about, std::string_view text, int waiting) const;
  bool is_news(const seccomp_data& call, Wanted wanted, std::string_view text, Word error);

  static constexpr int most_known = 1024;
  const Rules& rules_;
  bool records_;
  std::uint64_t known_[most_known] = {};
  std::uint32_t lost_ = 0;
};

}  // namespace harn::run::supervisor
