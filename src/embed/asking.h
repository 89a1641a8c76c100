// SPDX-License-Identifier: Apache-2.0
// From a call that waits to the operator and back: only what the boundary refuses and would work outside is asked about;
// a yes is a descriptor that was opened outside, and everybody's answer is recorded.
#pragma once

#include <memory>
#include <optional>

#include "ask/channel.h"
#include "embed/explain.h"
#include "harn/sandbox.h"

namespace harn::embed {

struct AskSettings {
  ask::Channel channel = {};
  std::chrono::milliseconds patience{60'000};
  // Writes a yes into the policy file; unset = there is none, and it is not offered. Says what went wrong.
  std::function<std::string(const ask::Question&)> keep = {};
  std::function<void(const std::string&)> warn = {};
  std::function<void(bool waiting)> hold = {};  // told when questions are open, and when none is any more
  // Given a way to refuse what is open, for who cannot hold any longer what the command prints meanwhile.
  std::function<void(std::function<void()> refuse)> overflow = {};
};

class Asking {
 public:
  Asking(AskSettings settings, Explainer& explainer, const RunOptions& options, std::string run_id);
  ~Asking();
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  // The descriptor to wait for, and what to do then.
  int fd() const;
  void attend();
  void take(const Refused& refused, const QuestionAnswer& answer);
  void take_host(const HostQuestion& asked, const std::function<void(bool allowed)>& answer);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace harn::embed
