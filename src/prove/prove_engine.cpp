// SPDX-License-Identifier: Apache-2.0
// Container engines are tried only for who names one: a daemon may be asleep, and an image must be there.
// Once per boot a container of the asked image is started whose first program looks for open doors and
// runs into its own limits.
#include <unistd.h>

#include <chrono>

#include <fmt/format.h>

#include "base/text.h"
#include "harn/prove.h"
#include "plan/names.h"
#include "plan/wrappers/container_client.h"
#include "prove/facts_cache.h"
#include "prove/facts_key.h"
#include "run/container/container.h"
#include "run/run_id.h"
#include "sys/files.h"

namespace harn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience{30};
constexpr std::chrono::milliseconds look_again{2};
constexpr std::uint64_t small_memory_mb = 32;  // the first program asks for three times as much
constexpr std::uint64_t few_processes = 16;    // … and for more than these
constexpr int both_limited = run::entry::limits_processes | run::entry::limits_memory;

plan::Engine engine_of(Backend backend) { return backend == Backend::docker ? plan::Engine::docker : plan::Engine::podman; }

prove::FactsKey key_of(const HostFacts& facts, const plan::ContainerClient& client, const std::string& name) {
  auto key = prove::facts_key(facts);
  key.whole += fmt::format("engine {}\n", name);
  for (const auto& word : client.words) key.whole += fmt::format("word {}\n", base::quoted(word, 4096));
  for (const auto& [variable, value] : client.environment) key.whole += fmt::format("with {}={}\n", variable, base::quoted(value, 4096));
  return key;
}

Result<std::string> version_of(const run::EngineClient& client) {
  HARN_TRY(answer, run::ask(client, {"version", "--format", "{{.Client.Version}}"}));
  if (!answer.ok()) return fail(run::explain(client, {}, "tell its version", answer));
  return std::string(base::trim(answer.out));
}

// Its first program waits for an answer meanwhile.
bool try_pause(const run::Container& container) {
  const auto paused = run::ask(container.client(), {"pause", container.id()});
  const auto state = container.state();
  const auto woken = run::ask(container.client(), {"unpause", container.id()});
  return paused && paused->ok() && state && state->status == "paused" && woken && woken->ok();
}

struct Seen {
  int limits = 0;  // as run::entry::Limits
  bool pauses = false;
};

// An error says why there was no container, or what it let through.
Result<Seen> try_container(const Plan& plan, const EngineRequest& request) {
  HARN_TRY(container,
           run::Container::create({.plan = plan, .run_id = run::make_run_id(), .place = request.place, .life = run::Life::limits}));
  HARN_TRY(started, run::ask(container.client(), {"start", container.id()}));
  if (!started.ok()) return fail(run::explain(container.client(), request.image, "start a container", started));
  Seen seen{.pauses = try_pause(container)};
  auto& report = container.report();
  for (const auto until = Clock::now() + patience; !report.ended() && Clock::now() < until; ::usleep(1000 * look_again.count()))
    report.look();
  if (!report.ready())
    return fail(
        Error{.code = ErrorCode::not_available,
              .stage = Stage::prepare,
              .message = fmt::format("a container of {} started, and its first program was never heard of", base::quoted(request.image)),
              .hint = fmt::format("the engine must see {} and may not mount it noexec", base::quoted(request.place.text()))});
  // Out of memory in a way that took its first program too: limited all the same.
  seen.limits = report.ended() ? report.ended()->status : both_limited;
  return seen;
}

// A tool that was tried: an error where it is of no use.
Result<Tool> try_engine(const HostFacts& facts, const EngineRequest& request, Tool tool) {
  const auto name = std::string(base::enum_name(request.backend));
  HARN_OK(sys::make_directories(request.place));
  HARN_TRY(work, sys::OwnDirectory::make(request.place, "harn-engine-"));
  auto there = facts;
  // Until it is tried it counts as working, so that there is a plan to try it with.
  there.tools[name] = tool = {.path = tool.path, .works = true, .limits = true};
  there.paths = {{work.path().text(), {.kind = PathKind::directory}}};
  there.git.clear();
  there.cwd = there.project_root = work.path();
  Policy policy{.sandbox_profile = Profile::worktree, .workspace_roots = {{work.path()}}};
  policy.process_sandbox.presets.emplace();
  policy.unprotect = policy.workspace_roots;
  policy.limits = {.max_memory_mb = small_memory_mb, .max_processes = few_processes};
  const Command command{.argv = {"-"}, .environment = request.environment, .image = request.image};
  const auto planned = [&] { return make_plan(policy, command, there, {.backend = request.backend}); };
  HARN_TRY(first, planned());
  HARN_TRY(version, version_of(run::client_of(first, work.path(), /*dies_with_thread=*/false)));
  there.tools[name].version = tool.version = version;
  HARN_TRY(plan, planned());
  HARN_TRY(seen, try_container(plan, request));
  tool.limits = (seen.limits & both_limited) == both_limited;
  tool.counts_cpu = (seen.limits & run::entry::counts_cpu) != 0;
  tool.pauses = seen.pauses;
  return tool;
}

}  // namespace

Status settle_engine(HostFacts& facts, const EngineRequest& request, const AbsPath& directory) {
  const auto name = std::string(base::enum_name(request.backend));
  const auto found = facts.tools.find(name);
  if (found == facts.tools.end() || facts.platform != Platform::linux) return {};
  HARN_TRY(client, plan::container_client(request.environment, facts, engine_of(request.backend)));
  const auto key = key_of(facts, client, name);
  if (auto kept = prove::load_facts(directory, key); kept && kept->tools.contains(name)) {
    found->second = kept->tools.at(name);
    return {};
  }
  auto tried = try_engine(facts, request, found->second);
  if (!tried) {
    found->second.works = false;
    found->second.why_not = tried.error().message;
    return fail(std::move(tried).error());
  }
  found->second = std::move(*tried);
  prove::keep_facts(directory, key, {.tools = {{name, found->second}}});
  return {};
}

}  // namespace harn
