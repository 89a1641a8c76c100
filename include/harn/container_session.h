// SPDX-License-Identifier: Apache-2.0
// A container that is kept: made once, entered again and again, gone at the end. Processes end with the
// command that started them; files in the workspace and in the container's own scratch stay.
//
//   HARN_TRY(session, ContainerSession::start(plan, {.place = state}));
//   HARN_TRY(outcome, session.exec(plan, options));   // any plan of the same policy and image
//   const auto problem = session.remove();
#pragma once

#include <memory>
#include <string>

#include "harn/sandbox.h"

namespace harn {

class ContainerSession {
 public:
  // From a plan for docker or podman, whose command is not run. What killed programs left behind is swept.
  static Result<ContainerSession> start(const Plan& plan, const RunOptions& options);
  ContainerSession(ContainerSession&&) noexcept;
  ContainerSession& operator=(ContainerSession&&) noexcept;
  ~ContainerSession();  // removes it

  // One command at a time: another call waits. A plan that would need another container is an error, and
  // so is a session whose container is gone; then start a new one.
  Result<Outcome> exec(const Plan& plan, const RunOptions& options);

  const std::string& id() const;
  // Why it could not be removed; empty when nothing is left of it.
  std::string remove();

 private:
  struct Parts;
  explicit ContainerSession(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace harn
