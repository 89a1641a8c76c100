// SPDX-License-Identifier: Apache-2.0
#include "prove/windows/appcontainer.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/text.h"
#include "harn/sandbox.h"
#include "run/windows/os/real_calls.h"
#include "run/windows/os/supervise.h"

namespace harn::prove {
namespace {

using namespace run::windows;

constexpr std::string_view secret = "only for those who may";

Error fails(std::string message) {
  return {.code = ErrorCode::not_available, .stage = Stage::prepare, .message = std::move(message), .hint = "use Windows 10 or later"};
}

Status check_job(const Calls& calls) {
  HARN_TRY(job, calls.create_job());
  const Held closed(nullptr, [&](void*) { calls.close(job); });
  const JobLimits told{.flags = job::kill_on_job_close | job::active_process | job::job_memory | job::user_time,
                       .active_process = 64,
                       .job_memory = 512u << 20,
                       .user_time = 300'000'000};
  HARN_OK(calls.limit_job(job, told));
  HARN_OK(calls.limit_job_ui(job, job::ui_read_clipboard));
  HARN_TRY(limits, calls.read_job(job));
  if (const auto why = limits_differ(told, limits); !why.empty()) return fail(fails("a job forgets its limits: " + why));
  HARN_TRY(ui, calls.read_job_ui(job));
  if (ui != job::ui_read_clipboard) return fail(fails("a job forgets its user interface limits"));
  return {};
}

// A place with a file that is opened and one that is not.
class Place {
 public:
  explicit Place(const HostFacts& facts) : root_(*sys::wide(native_path(facts.temp.join("harn-" + make_run_id())))) {
    for (const auto* name : {L"open", L"closed"}) {
      std::filesystem::create_directories(root_ / name, problem_);
      std::ofstream(root_ / name / L"file.txt") << secret << "\n";
    }
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  Result<AbsPath> path(const wchar_t* name) const {
    HARN_TRY(text, narrow((root_ / name).wstring()));
    return AbsPath::parse(text);
  }

 private:
  std::filesystem::path root_;
  std::error_code problem_ = {};
};

// What cmd.exe, which every container may run, says when it is to show a file.
Result<std::string> shown(const Calls& calls, Plan plan, const AbsPath& file) {
  plan.argv = {batch_interpreter(), "/d", "/c", "type", native_path(file)};
  plan.limits.wall_time_ms = 10'000;
  HARN_TRY(streams, Streams::open({.streams = {Stream::empty, Stream::capture, Stream::capture}}));
  HARN_TRY(launched, launch(calls, {.plan = plan,
                                    .streams = streams.child_ends(),
                                    .run_id = make_run_id(),
                                    .is_file = is_file,
                                    .batch_interpreter = batch_interpreter()}));
  HARN_TRY(outcome, supervise(launched, std::move(streams), {.limits = plan.limits}));
  return outcome.captured_stdout.value_or("");
}

Result<std::string> try_it(const Calls& calls, const HostFacts& facts) {
  HARN_OK(claims_to_confine(calls));
  const Place place(facts);
  HARN_TRY(open, place.path(L"open"));
  HARN_TRY(closed, place.path(L"closed"));
  Plan plan;
  plan.cwd = open;
  plan.env.variables["SystemRoot"] = native_path(AbsPath::of(batch_interpreter()).parent().parent());
  const auto says_it = [](const std::string& text) { return text.find(secret) != std::string::npos; };
  HARN_TRY(outside, shown(calls, plan, closed.join("file.txt")));
  if (!says_it(outside)) return fail(fails("a command outside could not read the file that was to be kept from one inside"));
  AppContainer container{.name = "harn.proof", .job_flags = {"kill_on_job_close"}};
  container.grants = {{.path = open, .modify = false, .inherit = true, .stops_inheritance = false, .note = "proof"}};
  plan.confinement = std::move(container);
  HARN_TRY(inside, shown(calls, plan, closed.join("file.txt")));
  if (says_it(inside)) return fail(fails("a command in an AppContainer read a file nobody opened to it"));
  HARN_TRY(allowed, shown(calls, plan, open.join("file.txt")));
  if (!says_it(allowed)) return fail(fails("a command in an AppContainer could not read a file that was opened to it"));
  return std::string("a command in an AppContainer read the file that was opened to it, and not the one beside it");
}

}  // namespace

Status claims_to_confine(const Calls& calls) {
  HARN_TRY(sid, calls.derive_sid("harn.sandbox.claim"));
  HARN_OK(has_container_functions());
  HARN_OK(takes_container_attribute(sid));
  return check_job(calls);
}

Finding prove_confinement(const Calls& calls, const HostFacts& facts) {
  const auto how = try_it(calls, facts);
  if (how) return {.mechanism = "appcontainer", .works = true, .how = *how};
  return {.mechanism = "appcontainer", .works = false, .why_not = how.error().message, .remedy = how.error().hint};
}

}  // namespace harn::prove
