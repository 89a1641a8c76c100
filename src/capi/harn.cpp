// SPDX-License-Identifier: Apache-2.0
// The C ABI: each function reads its request, asks the library, and answers in JSON. No exception passes:
// what a library beneath us throws for want of memory becomes an answer too.
#include "harn.h"

#include <memory>

#include <fmt/format.h>

#include "base/json.h"
#include "capi/answer_files.h"
#include "capi/answers.h"
#include "capi/requests.h"
#include "embed/error_json.h"
#include "embed/harness_table.h"
#include "embed/places.h"
#include "embed/ready.h"
#include "harn/doctor.h"
#include "harn/policy_text.h"

struct harn_sandbox {
  std::unique_ptr<harn::AuditLog> log = {};
  std::optional<harn::TapeWriter> tape = {};
  std::optional<harn::Replay> replay = {};
  std::optional<harn::Sandbox> opened = {};  // last: it borrows the others

  const harn::Sandbox& sandbox() const { return *opened; }
};

struct harn_executor {
  std::unique_ptr<harn::AuditLog> log = {};
  harn::harness::SandboxMode mode = harn::harness::SandboxMode::process;
  harn::AbsPath home = {};
  harn::harness::Executor executor;
};

struct harn_files {
  harn::FileScope files;
  harn::AbsPath home = {};
};

namespace harn::capi {
namespace {

Error both_ways() {
  return {.code = ErrorCode::protocol,
          .stage = Stage::load,
          .message = "a run cannot be recorded and replayed at once",
          .hint = "leave 'record' or 'replay' out"};
}

Result<HostFacts> facts_for(const char* context) {
  HARN_TRY(standing, read_context(context));
  return embed::proved_facts({.environment = standing.environment, .cwd = standing.cwd, .inside = Inside::other_program});
}

std::string one_member(std::string name, base::Value value) {
  base::Value out;
  out.set(std::move(name), std::move(value));
  return base::print_json(out);
}

Error no_such_exec(std::uint64_t exec, std::size_t count) {
  return {.code = ErrorCode::invalid_command,
          .stage = Stage::load,
          .message = fmt::format("the tape has no exec {}: it has {}, counted from 1", exec, count)};
}

Result<base::Value> as_value(const std::string& json) { return base::parse_json(json, "own text"); }

}  // namespace
}  // namespace harn::capi

using namespace harn;        // NOLINT(google-build-using-namespace): the functions below are C's
using namespace harn::capi;  // NOLINT(google-build-using-namespace)

extern "C" {

int harn_abi(void) { return HARN_ABI; }
const char* harn_version(void) { return HARN_VERSION; }
void harn_free(char* text) { std::free(text); }

harn_stop* harn_stop_create(void) {
  return make<harn_stop>(nullptr, []() -> Result<std::unique_ptr<harn_stop>> {
    HARN_TRY(stop, Stop::make());
    return std::make_unique<harn_stop>(std::move(stop));
  });
}

void harn_stop_request(const harn_stop* stop) {
  if (stop != nullptr) stop->stop.request();
}

void harn_stop_free(harn_stop* stop) { delete stop; }

harn_sandbox* harn_sandbox_open(const char* request, char** error) {
  return make<harn_sandbox>(error, [&]() -> Result<std::unique_ptr<harn_sandbox>> {
    HARN_TRY(read, read_open(request));
    auto made = std::make_unique<harn_sandbox>();
    if (read.record && read.replay) return fail(both_ways());
    if (read.record) {
      HARN_TRY(tape, TapeWriter::open(*read.record));
      read.context.tape = &made->tape.emplace(std::move(tape));
    }
    if (read.replay) {
      HARN_TRY(tape, Tape::open(*read.replay));
      read.context.replay = &made->replay.emplace(std::move(tape), std::move(read.rules));
    } else {
      made->log = log_for(read.audit, read.policy.profile(), read.context);  // what is not run is not recorded as run
    }
    HARN_TRY(sandbox, Sandbox::open(std::move(read.policy), std::move(read.context), read.options));
    made->opened.emplace(std::move(sandbox));
    return made;
  });
}

char* harn_tape_read(const char* request) {
  return answer([&]() -> Result<std::string> {
    HARN_TRY(read, read_tape_request(request));
    HARN_TRY(tape, Tape::open(read.tape));
    if (read.exec) {
      if (*read.exec == 0 || *read.exec > tape.records().size()) return fail(no_such_exec(*read.exec, tape.records().size()));
      HARN_TRY(record, tape.whole(static_cast<std::size_t>(*read.exec - 1)));
      return run_record_to_json(record, -1);
    }
    base::Array records;
    for (const auto& record : tape.records()) {
      HARN_TRY(value, as_value(run_record_to_json(record)));
      records.push_back(std::move(value));
    }
    base::Value out;
    out.set("tape", tape.path().text());
    out.set("torn", tape.torn());
    out.set("repaired", tape.repaired_times());
    out.set("records", std::move(records));
    return base::print_json(out);
  });
}

void harn_sandbox_close(harn_sandbox* sandbox) { delete sandbox; }

char* harn_sandbox_policy(const harn_sandbox* sandbox) {
  return answer([&]() -> Result<std::string> {
    if (sandbox == nullptr) return fail(no_object());
    const auto& policy = sandbox->sandbox().policy();
    HARN_TRY(value, as_value(policy_to_json(policy)));
    base::Value out;
    out.set("policy", std::move(value));
    out.set("digest", digest(policy));
    out.set("profile", sandbox_active_profile(&policy));
    return base::print_json(out);
  });
}

char* harn_sandbox_plan(const harn_sandbox* sandbox, const char* command) {
  return answer([&]() -> Result<std::string> {
    if (sandbox == nullptr) return fail(no_object());
    HARN_TRY(read, read_run(command));
    HARN_TRY(scopes, enter(read.within, sandbox->sandbox().facts().home));
    HARN_TRY(plan, sandbox->sandbox().plan(read.command, read.call));
    return plan_to_json(plan, -1);
  });
}

char* harn_sandbox_run(const harn_sandbox* sandbox, const char* command, const harn_stop* stop, harn_output output, void* user) {
  return answer([&]() -> Result<std::string> {
    if (sandbox == nullptr) return fail(no_object());
    HARN_TRY(read, read_run(command));
    read.call.on_output = sink_for(output, user);
    read.call.stop = stop == nullptr ? nullptr : &stop->stop;
    HARN_TRY(scopes, enter(read.within, sandbox->sandbox().facts().home));
    HARN_TRY(outcome, sandbox->sandbox().run(read.command, read.call));
    return outcome_to_json(outcome, -1);
  });
}

harn_files* harn_files_open(const harn_sandbox* sandbox, char** error) {
  return make<harn_files>(error, [&]() -> Result<std::unique_ptr<harn_files>> {
    if (sandbox == nullptr) return fail(no_object());
    HARN_TRY(files, sandbox->sandbox().files());
    return std::unique_ptr<harn_files>(new harn_files{.files = std::move(files), .home = sandbox->sandbox().facts().home});
  });
}

void harn_files_close(harn_files* files) { delete files; }

char* harn_files_do(const harn_files* files, const char* request) {
  return answer([&]() -> Result<std::string> {
    if (files == nullptr) return fail(no_object());
    HARN_TRY(read, read_file_request(request));
    HARN_TRY(scopes, enter(read.within, files->home));
    return answer_file(files->files, read);
  });
}

harn_executor* harn_executor_create(const char* request, char** error) {
  return make<harn_executor>(error, [&]() -> Result<std::unique_ptr<harn_executor>> {
    HARN_TRY(read, read_executor(request));
    auto log = log_for(read.audit, Profile::worktree, read.context);
    HARN_TRY(executor, harness::create_executor(read.policy, std::move(read.context)));
    auto home = executor.sandbox()->facts().home;
    return std::unique_ptr<harn_executor>(
        new harn_executor{.log = std::move(log), .mode = read.policy.mode, .home = std::move(home), .executor = std::move(executor)});
  });
}

char* harn_executor_cleanup(harn_executor* executor) {
  return answer([&]() -> Result<std::string> {
    if (executor == nullptr) return fail(no_object());
    executor->executor.cleanup();
    return std::string("{}");
  });
}

void harn_executor_free(harn_executor* executor) { delete executor; }

char* harn_executor_describe(const harn_executor* executor) {
  return answer([&]() -> Result<std::string> {
    if (executor == nullptr) return fail(no_object());
    const auto* sandbox = executor->executor.sandbox();
    base::Value out;
    out.set("mode", harness::name_of(executor->mode));
    out.set("profile", sandbox_active_profile(sandbox == nullptr ? nullptr : &sandbox->policy()));
    if (executor->mode == harness::SandboxMode::process && sandbox != nullptr) out.set("backend", sandbox_active_backend(sandbox->facts()));
    if (executor->mode == harness::SandboxMode::docker) out.set("backend", "docker");
    base::Array notes;
    for (const auto& note : executor->executor.notes()) notes.emplace_back(note);
    out.set("notes", std::move(notes));
    return base::print_json(out);
  });
}

char* harn_executor_validate(const harn_executor* executor, const char* command) {
  return answer([&]() -> Result<std::string> {
    if (executor == nullptr || command == nullptr) return fail(no_object());
    const auto blocked = executor->executor.validate_command(command);
    return one_member("blocked", blocked ? base::Value(*blocked) : base::Value());
  });
}

char* harn_executor_execute(const harn_executor* executor, const char* request, const harn_stop* stop, harn_output output, void* user) {
  return answer([&]() -> Result<std::string> {
    if (executor == nullptr) return fail(no_object());
    HARN_TRY(read, read_execute(request));
    read.execution.on_output = sink_for(output, user);
    read.execution.stop = stop == nullptr ? nullptr : &stop->stop;
    HARN_TRY(scopes, enter(read.within, executor->home));
    return harness::result_to_json(executor->executor.execute(read.command, read.execution));
  });
}

char* harn_harness_config(const char* request) {
  return answer([&]() -> Result<std::string> {
    HARN_TRY(read, read_config_request(request));
    HARN_TRY(found, harness::find_config(read.start, read.home));
    base::Value out;
    out.set("found", found.has_value());
    if (found) {
      auto table = harness::table_of(found->policy);
      table.object().front().value = base::Value(found->enabled);  // table_of() is for those that are
      out.set("file", found->file.text());
      out.set("sandbox", std::move(table));
    }
    return base::print_json(out);
  });
}

char* harn_sandbox_active_backend(const char* context) {
  return answer([&]() -> Result<std::string> {
    HARN_TRY(facts, facts_for(context));
    return one_member("backend", sandbox_active_backend(facts));
  });
}

char* harn_sandbox_backend_available(const char* context) {
  return answer([&]() -> Result<std::string> {
    HARN_TRY(facts, facts_for(context));
    return one_member("available", sandbox_backend_available(facts));
  });
}

char* harn_sandbox_active_profile(const harn_sandbox* sandbox) {
  return answer([&]() -> Result<std::string> {
    return one_member("profile", sandbox_active_profile(sandbox == nullptr ? nullptr : &sandbox->sandbox().policy()));
  });
}

}  // extern "C"
