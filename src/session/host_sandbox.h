// SPDX-License-Identifier: Apache-2.0
// What a backend of this host is made of.
#pragma once

#include <map>
#include <mutex>

#include "harn/session.h"
#include "session/exec.h"
#include "session/mounts.h"

namespace harn {

struct HostSandbox::Parts {
  Context context = {};
  std::string backend = "local";
  std::optional<AbsPath> root = {};
  Profile profile = Profile::os_hardened;
  std::optional<std::chrono::milliseconds> lifetime = {};
  PlanOptions options = {};
  std::string image = {};
  HostFacts facts = {};
  session::Places places = {};
  // Sessions whose record has not changed since it was read.
  struct Cached {
    session::RecordMark mark = {};
    session::Way way = {};
    std::unique_ptr<run::Line> line = std::make_unique<run::Line>(/*lasting=*/true);
  };
  std::mutex lock = {};
  std::map<std::string, std::shared_ptr<const Cached>> cache = {};

  session::MountGround ground() const {
    return {.places = places, .facts = facts, .own_state = embed::state_directory(context.environment)};
  }

  void record(AuditEventType type, const session::Record& about, const std::string& detail = {}) const;
  // The record of a session of this backend.
  SandboxResult<session::Record> own(const SandboxSessionId& id) const;
  SandboxResult<std::shared_ptr<const Cached>> way_into(const std::string& id);
};

}  // namespace harn
