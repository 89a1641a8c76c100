// SPDX-License-Identifier: Apache-2.0
// What starting a process shares, whoever holds it afterwards.
#pragma once

#include <signal.h>

#include <string>
#include <string_view>

#include "run/prepared_parts.h"

namespace harn::run {

// Signals stay blocked until the child no longer shares our memory: a handler running there would run in two
// processes at once.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_ = {};
};

void reap_child(pid_t pid);

std::string reason_of(int error);  // "No such file or directory"
Error cannot_start(std::string_view command, int error);
// The first step that failed, for a person.
Error explain_failure(const PreparedParts& parts);

}  // namespace harn::run
