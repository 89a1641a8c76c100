// SPDX-License-Identifier: Apache-2.0
// The audit log as one `harn run` uses it: opened when there is something to write, by the user's settings
// and flags; what goes wrong is said once.
#pragma once

#include "cli/args.h"
#include "cli/prepare.h"
#include "harn/audit.h"
#include "harn/sandbox.h"

namespace harn::cli {

class RunAudit final : public AuditSink {
 public:
  RunAudit(const Arguments& arguments, const Caller& caller);

  AuditSettings* settings() { return &settings_; }  // for prepare() to fill in

  void use_policy(const Prepared& prepared);
  void use_profile(Profile profile) { hardened_ = profile == Profile::os_hardened; }
  bool is_off() const { return mode() == AuditMode::off; }
  void use_plan(const Plan& plan, const PlanOptions& options);
  void fill(RunOptions& options);  // what is known so far goes into the log with the start of the command

  // The command did not run; where that was decided rather than mistyped, the log says so.
  void refused(const Error& error, const std::vector<std::string>& argv);

  Status append(std::span<const AuditEvent> events) override;

  // Under os_hardened: the command ran, and nobody may take for a success what the log does not end.
  bool end_is_missing() const { return hardened_ && failed_; }

 private:
  const Caller& caller_;
  std::optional<AuditMode> asked_ = {};
  AuditSettings settings_ = {};
  std::string run_id_ = {};
  std::vector<AuditEvent> decided_ = {};
  std::vector<std::string> secrets_ = {};
  std::unique_ptr<AuditLog> log_ = {};
  bool hardened_ = false;
  bool handed_over_ = false;  // the run itself records what follows
  bool failed_ = false;

  AuditMode mode() const;
};

}  // namespace harn::cli
