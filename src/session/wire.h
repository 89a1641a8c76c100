// SPDX-License-Identifier: Apache-2.0
// The values of a session as JSON trees: what to_json() prints, and what is kept on disk.
#pragma once

#include "base/value.h"
#include "harn/session.h"

namespace harn::session {

base::Value value_of(const NetworkPolicy& value);
base::Value value_of(const FilesystemMount& value);
base::Value value_of(const ResolvedMount& mount);
base::Value value_of(const ResourceLimits& value);
base::Value value_of(const SandboxSpec& value);
base::Value value_of(const SandboxSession& value);
base::Value value_of(const ExecRequest& value);
base::Value value_of(const ExecResult& value);
base::Value value_of(const SandboxSnapshot& value);
base::Value value_of(const SandboxCapabilities& value);
base::Value value_of(const std::map<std::string, std::string>& value);

// Reads members of one object; what is wrong is remembered once, and everything else then reads as its default.
class ObjectReader {
 public:
  explicit ObjectReader(const base::Value& value, std::string where = {});

  ObjectReader& text(std::string_view name, std::string& out, bool required = false);
  ObjectReader& text(std::string_view name, std::optional<std::string>& out);
  ObjectReader& flag(std::string_view name, bool& out);
  ObjectReader& number(std::string_view name, std::int64_t& out, bool required = false);
  ObjectReader& texts(std::string_view name, std::vector<std::string>& out);
  ObjectReader& map(std::string_view name, std::map<std::string, std::string>& out);
  ObjectReader& duration(std::string_view name, std::optional<std::chrono::nanoseconds>& out);
  ObjectReader& limit(std::string_view name, std::optional<std::uint32_t>& out);
  // Null where the member is missing or null.
  const base::Value* member(std::string_view name);
  void wrong(std::string_view name, std::string_view wanted);
  void take(SandboxResult<void> result);

  // Unknown members are mistakes too.
  SandboxResult<void> done();

 private:
  const base::Value* value_;
  std::string where_;
  std::vector<std::string> known_ = {};
  std::string mistake_ = {};
};

SandboxResult<NetworkPolicy> read_network(const base::Value& value);
SandboxResult<FilesystemMount> read_mount(const base::Value& value);
SandboxResult<ResourceLimits> read_limits(const base::Value& value);
SandboxResult<ResolvedMount> read_resolved(const base::Value& value);
SandboxResult<FilesystemAccess> read_access(const base::Value* value);

}  // namespace harn::session
