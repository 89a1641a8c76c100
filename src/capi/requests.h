// SPDX-License-Identifier: Apache-2.0
// What arrives over the C ABI, as values; read strictly.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harn/embed.h"
#include "harn/executor.h"

namespace harn::capi {

// This process's own where the request has none.
Result<Context> read_context(const char* text);

struct OpenRequest {
  Policy policy = {};
  Context context = {};
  PlanOptions options = {};
};
Result<OpenRequest> read_open(const char* text);

struct RunRequest {
  Command command = {};
  Call call = {};
};
Result<RunRequest> read_run(const char* text);

struct ExecutorRequest {
  harness::SandboxPolicy policy = {};
  Context context = {};
};
Result<ExecutorRequest> read_executor(const char* text);

struct ExecuteRequest {
  std::string command = {};
  harness::Execution execution = {};
};
Result<ExecuteRequest> read_execute(const char* text);

struct ConfigRequest {
  AbsPath start = {};
  AbsPath home = {};
};
Result<ConfigRequest> read_config_request(const char* text);

}  // namespace harn::capi
