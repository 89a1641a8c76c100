// SPDX-License-Identifier: Apache-2.0
// What arrives over the C ABI, as values; read strictly.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "harn/embed.h"
#include "harn/executor.h"
#include "harn/scope.h"

namespace harn::capi {

// This process's own where the request has none.
Result<Context> read_context(const char* text);

struct OpenRequest {
  Policy policy = {};
  Context context = {};
  PlanOptions options = {};
  std::optional<AuditMode> audit = {};  // unset = by profile
  std::optional<AbsPath> record = {};   // a tape that runs end up on
  std::optional<AbsPath> replay = {};   // a tape that answers in place of running
  ReplayRules rules = {};
};
Result<OpenRequest> read_open(const char* text);

struct TapeRequest {
  AbsPath tape = {};
  std::optional<std::uint64_t> exec = {};  // counted from 1
};
Result<TapeRequest> read_tape_request(const char* text);

// A policy around one call: it narrows, as a PolicyScope does.
struct Around {
  base::Value policy = {};
  bool allow_demotion = false;
  bool sub_agent = false;
};
// All of them, outermost first, until the list goes. `home` is what ~ means.
Result<std::vector<PolicyScope>> enter(const std::vector<Around>& within, const AbsPath& home);

struct RunRequest {
  Command command = {};
  Call call = {};
  std::vector<Around> within = {};
};
Result<RunRequest> read_run(const char* text);

struct ExecutorRequest {
  harness::SandboxPolicy policy = {};
  Context context = {};
  std::optional<AuditMode> audit = {};
};
Result<ExecutorRequest> read_executor(const char* text);

struct ExecuteRequest {
  std::string command = {};
  harness::Execution execution = {};
  std::vector<Around> within = {};
};
Result<ExecuteRequest> read_execute(const char* text);

enum class FileOperation : std::uint8_t {
  read_text,
  list,
  exists,
  write_text,
  delete_,
  delete_tree
};
struct FileRequest {
  FileOperation operation = FileOperation::exists;
  std::string path = {};
  std::string text = {};
  std::size_t max_bytes = default_max_read_bytes;
  std::vector<Around> within = {};
};
Result<FileRequest> read_file_request(const char* text);

struct ConfigRequest {
  AbsPath start = {};
  AbsPath home = {};
};
Result<ConfigRequest> read_config_request(const char* text);

}  // namespace harn::capi
