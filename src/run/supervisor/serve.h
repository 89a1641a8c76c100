// SPDX-License-Identifier: Apache-2.0
// From a notification to an answer, once per trapped call; calls that would block wait here.
#pragma once

#include <linux/seccomp.h>

#include "run/supervisor/calls.h"

namespace harn::run::supervisor {

class Server {
 public:
  Server(int listener, const Rules& rules) : listener_(listener), rules_(rules) {}

  // Takes one notification and answers it. To be called when the listener is readable.
  void serve();
  // Tries the calls that would have blocked once more.
  void serve_waiting();
  bool has_waiting() const { return waiting_count_ != 0; }

 private:
  struct Waiting {
    seccomp_notif call = {};
    Fd kept = {};
  };
  static constexpr int most_waiting = 64;

  // False when it has to wait.
  bool answer(const seccomp_notif& call, Fd& kept);
  void send(const seccomp_notif& call, Word value) const;
  void send_descriptor(const seccomp_notif& call, Answer& answer) const;

  int listener_;
  const Rules& rules_;
  Waiting waiting_[most_waiting] = {};
  int waiting_count_ = 0;
};

}  // namespace harn::run::supervisor
