// SPDX-License-Identifier: Apache-2.0
// docker and podman: one `create` command line with everything closed that a container engine can close.
// Limits belong to the engine here, because the command is no child of ours. The first program inside is
// harn's own (run/entry): it tries the boundary and starts the command.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "plan/coarse_gaps.h"
#include "plan/coverage.h"
#include "plan/linux/dangerous_sockets.h"
#include "plan/linux/guest_mounts.h"
#include "plan/linux/network_reach.h"
#include "plan/linux/view.h"
#include "plan/lower.h"
#include "plan/syscalls/seccomp_json.h"
#include "plan/wrappers/container_client.h"
#include "plan/wrappers/container_mounts.h"
#include "plan/wrappers/container_words.h"
#include "plan/wrappers/wrapper_coverage.h"

namespace harn::plan {
namespace {

using Words = std::vector<std::string>;

void append(Words& words, std::initializer_list<std::string> more) { words.insert(words.end(), more); }

// The engine takes words as JSON, where bytes outside UTF-8 would silently become other bytes.
Status check_words(const Plan& plan, const std::string& image) {
  for (const auto& word : plan.argv)
    if (!base::valid_utf8(word))
      return fail(cannot_express("the argument " + base::quoted(word) + " is not UTF-8 and cannot reach a container unchanged",
                                 "use the linux backend for this command"));
  const bool plain = std::none_of(image.begin(), image.end(), [](unsigned char c) { return c <= ' ' || c == 0x7F; });
  if (image.empty() || image.front() == '-' || !plain)
    return fail({.code = ErrorCode::invalid_command,
                 .stage = Stage::plan,
                 .message = base::quoted(image) + " is not the name of an image",
                 .hint = "write it as name:tag, such as python:3.12-slim"});
  return {};
}

// rootless podman on cgroup v1 takes resource limits, warns, and ignores them. What was tried decides.
bool engine_limits_resources(const PlanInput& input, Engine engine) {
  const auto tool = input.facts.tools.find(std::string(name_of(engine)));
  if (tool != input.facts.tools.end() && tool->second.limits) return *tool->second.limits;
  return engine == Engine::docker || input.facts.uid == 0 || input.facts.linux.cgroup == CgroupKind::v2;
}

void not_limited(Coverage& coverage, Dimension dimension, std::string code, std::string what) {
  open_gap(coverage,
           {.dimension = dimension,
            .code = std::move(code),
            .detail = "the engine ignores limits on " + what + " here, as rootless podman does without cgroup v2",
            .remedy = "boot with the unified cgroup hierarchy, or run podman as root"},
           Enforcement::not_enforced);
}

void limit_resources(const PlanInput& input, Engine engine, Words& words, Coverage& coverage) {
  const auto& limits = input.policy.limits;
  const bool effective = engine_limits_resources(input, engine);
  const auto limit = [&](bool asked, Dimension dimension, std::string code, std::string what, std::initializer_list<std::string> flags) {
    if (!asked) return;
    if (!effective) return not_limited(coverage, dimension, std::move(code), std::move(what));
    append(words, flags);
    enforced_by(coverage, dimension, "container");
  };
  const auto memory = fmt::format("{}m", limits.max_memory_mb.value_or(0));
  limit(limits.max_memory_mb.has_value(), Dimension::memory, "memory_not_limited", "memory", {"--memory", memory, "--memory-swap", memory});
  limit(limits.max_processes.has_value(), Dimension::processes, "processes_not_limited", "processes",
        {"--pids-limit", fmt::format("{}", limits.max_processes.value_or(0))});
  const auto milli = limits.cpu_milli.value_or(0);
  limit(limits.cpu_milli.has_value(), Dimension::cpu, "cpu_share_not_limited", "processor share",
        {"--cpus", fmt::format("{}.{:03}", milli / 1000, milli % 1000)});
}

void add_ulimit(Words& words, std::string_view name, std::uint64_t soft, std::uint64_t hard) {
  append(words, {"--ulimit", fmt::format("{}={}:{}", name, soft, hard)});
}

bool counts_everybody(const PlanInput& input, Engine engine) {
  const auto tool = input.facts.tools.find(std::string(name_of(engine)));
  return tool != input.facts.tools.end() && tool->second.counts_cpu;
}

// Each process has its own limit; harn's program inside counts everybody together where it can.
void limit_cpu(const PlanInput& input, Engine engine, Words& words, Coverage& coverage) {
  const auto& seconds = input.policy.limits.max_cpu_seconds;
  if (!seconds) return;
  add_ulimit(words, "cpu", *seconds, *seconds + 1);
  enforced_by(coverage, Dimension::cpu, "container");
  if (counts_everybody(input, engine)) return;
  open_gap(coverage,
           {.dimension = Dimension::cpu,
            .code = "cpu_per_process",
            .detail = "the engine counts processor seconds for each process, not for all of them together",
            .remedy = "set limits.wall_time and limits.cpu_count as well"},
           Enforcement::degraded);
}

void limit_each_process(const PlanInput& input, Engine engine, Words& words, Coverage& coverage) {
  const auto& limits = input.policy.limits;
  add_ulimit(words, "core", 1, 1);
  // podman would raise these two, which a root without that right cannot: they stay what the caller has.
  if (engine == Engine::podman) append(words, {"--ulimit", "nproc=@run:nproc"});
  if (engine == Engine::podman && !limits.max_open_files) append(words, {"--ulimit", "nofile=@run:nofile"});
  limit_cpu(input, engine, words, coverage);
  if (limits.max_file_size_mb) {
    const auto bytes = *limits.max_file_size_mb << 20;
    add_ulimit(words, "fsize", bytes, bytes);
    enforced_by(coverage, Dimension::file_size, "container");
  }
  if (limits.max_open_files) add_ulimit(words, "nofile", *limits.max_open_files, *limits.max_open_files);
}

void watch_clock(const Limits& limits, Plan& plan) {
  const auto in_ms = [](const std::chrono::milliseconds& time) { return static_cast<std::uint64_t>(time.count()); };
  if (limits.wall_time) plan.limits.wall_time_ms = in_ms(*limits.wall_time);
  if (limits.idle_timeout) plan.limits.idle_timeout_ms = in_ms(*limits.idle_timeout);
  plan.limits.max_output_bytes = limits.max_output_bytes;
  if (limits.wall_time) enforced_by(plan.coverage, Dimension::wall_time, "supervisor");
}

void add_identity(const PlanInput& input, Engine engine, Words& words) {
  append(words, {"--user", fmt::format("{}:{}", input.facts.uid, input.facts.gid)});
  if (engine == Engine::podman && input.facts.uid != 0) append(words, {"--userns", "keep-id"});
  append(words, {"--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--security-opt", "seccomp=@file:seccomp.json"});
  // Files of the workspace carry host labels; relabelling them would leave a trace on the host.
  append(words, {"--security-opt", "label=disable"});
  append(words, {"--ipc", "private", "--read-only"});
}

// Where the command gets writable space of its own.
std::vector<AbsPath> scratch_places(const PlanInput& input) {
  std::vector<AbsPath> places;
  if (!wants_temp(input.policy)) return places;
  for (const auto& place : {AbsPath::of("/tmp"), AbsPath::of("/var/tmp"), input.facts.home})
    if (!place.is_root() && input.rules.access(place) == Access::none) places.push_back(place);
  return places;
}

Status add_scratch(const PlanInput& input, Engine engine, Words& words) {
  const auto size = input.policy.limits.max_memory_mb ? fmt::format("{}m", *input.policy.limits.max_memory_mb) : std::string("1g");
  for (const auto& place : scratch_places(input)) {
    HARN_TRY(word, scratch_word(place, size, input.facts, engine));
    append(words, {"--tmpfs", std::move(word)});
  }
  return {};
}

// A private place already covers what is denied there, and needs a way in through what is denied above.
void make_way(const std::vector<AbsPath>& places, std::vector<MountStep>& steps) {
  for (const auto& place : places) {
    std::erase_if(steps, [&](const MountStep& step) { return step.target == place; });
    for (auto& step : steps)
      if (step.op == MountOp::hide && step.target.contains(place)) step.op = MountOp::tmpfs;
  }
}

Status add_sockets(const PlanInput& input, const MountWords& mounts, Words& words) {
  auto sockets = entries(input.policy.process_sandbox.unix_sockets);
  std::sort(sockets.begin(), sockets.end());
  for (const auto& socket : sockets) {
    if (!input.facts.exists(socket.path) || input.rules.access(socket.path) != Access::none) continue;
    HARN_TRY(word, mounts.word({.op = MountOp::bind, .source = socket.path.text(), .target = socket.path, .file = true}));
    append(words, {"--mount", std::move(word)});
  }
  return {};
}

// Beside what the policy grants, and seen as that is.
Status add_guests(const PlanInput& input, std::vector<MountStep>& steps) {
  if (input.guests == nullptr) return {};
  const auto granted = steps;
  for (const auto& guest : *input.guests) {
    for (const auto& step : granted)
      if (step.target.contains(guest.target) || guest.target.contains(step.target))
        return fail(cannot_express(
            "nothing can be mounted at " + base::quoted(guest.target.text()) + ": the policy opens " + base::quoted(step.target.text()),
            "choose a path of its own, such as one beneath /mnt"));
    HARN_TRY(more, mirrored_steps(guest, granted));
    steps.insert(steps.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  return {};
}

Status add_mounts(const PlanInput& input, Engine engine, Words& words, Coverage& coverage) {
  HARN_TRY(mounts, container_mounts(input));
  const MountWords spelling(input.facts, engine);
  make_way(scratch_places(input), mounts.steps);
  HARN_OK(add_guests(input, mounts.steps));
  HARN_OK(add_scratch(input, engine, words));
  for (const auto& step : mounts.steps) {
    HARN_TRY(word, spelling.word(step));
    append(words, {"--mount", std::move(word)});
  }
  HARN_OK(add_sockets(input, spelling, words));
  cover_unguarded_names(std::move(mounts.absent), coverage);
  cover_links(std::move(mounts.links), coverage);
  cover_joint_deletes(input.rules, coverage);
  return {};
}

// Every engine mounts it, for programs that ask about processors and cgroups; it is the kernel's, not the image's.
void show_kernel_objects(Coverage& coverage) {
  open_gap(coverage,
           {.dimension = Dimension::devices,
            .code = "kernel_objects",
            .paths = {AbsPath::of("/sys")},
            .detail = "the engine shows the devices of this machine in /sys, read-only",
            .remedy = "use the linux backend, which shows none"},
           Enforcement::degraded);
}

// `input.rules` are those of a container from here on.
Status lower_inside(const PlanInput& input, Engine engine, Plan& plan) {
  const std::string name(name_of(engine));
  HARN_TRY(client, container_client(input.command.environment, input.facts, engine));
  Words words{program(input.facts, name, name)};
  words.insert(words.end(), client.words.begin(), client.words.end());
  append(words, {"create", "--pull", "never", "--interactive", "--name", "@run:name", "--label", "harn.run=@run:id", "--label",
                 "harn.owner=@run:owner", "--log-driver", "none", "--no-healthcheck"});
  // What an image or a user's settings would add by themselves.
  if (engine == Engine::podman) append(words, {"--http-proxy=false", "--image-volume", "ignore"});
  if (network_reach(input.policy) != NetworkReach::unrestricted) append(words, {"--network", "none"});
  limit_resources(input, engine, words, plan.coverage);
  limit_each_process(input, engine, words, plan.coverage);
  watch_clock(input.policy.limits, plan);
  add_identity(input, engine, words);
  HARN_OK(add_mounts(input, engine, words, plan.coverage));
  HARN_OK(check_client(client, input.rules));
  place_wrapped_temp(input, plan);
  add_environment(input.policy, plan, words);
  append(words, {"--mount", fmt::format("type=bind,source=@dir:inside,target={},readonly", entry_directory), "--workdir", plan.cwd.text(),
                 "--entrypoint", std::string(entry_directory) + "/entry", input.command.image});
  const auto& seconds = input.policy.limits.max_cpu_seconds;
  append(words, {"run", std::string(entry_directory) + "/report", seconds ? fmt::format("{}", *seconds) : "-", "@run:canary", "@run:pid",
                 "@run:network", "@run:writable"});
  words.insert(words.end(), plan.argv.begin(), plan.argv.end());

  const auto sockets = wrapped_sockets(input, /*shares_network=*/false);
  HARN_TRY(filter, wrapped_syscalls(input, sockets));
  HARN_TRY(profile, seccomp_json(filter));
  plan.confinement = Wrapper{.argv = std::move(words),
                             .files = {{.name = "seccomp.json", .text = std::move(profile)}},
                             .syscalls = std::move(filter),
                             .environment = std::move(client.environment)};
  cover_separation("container", plan.coverage);
  show_kernel_objects(plan.coverage);
  cover_network(input.policy, "container", plan.coverage);
  cover_sockets(sockets, "container", plan);
  plan.notes.push_back("the image " + base::quoted(input.command.image) + " supplies the system; presets are not mounted");
  return {};
}

Status lower_container(const PlanInput& input, Engine engine, Plan& plan) {
  HARN_OK(refuse_dangerous_sockets(input.policy));
  HARN_OK(check_words(plan, input.command.image));
  const auto rules = container_rules(input.policy, input.facts);
  return lower_inside({.policy = input.policy, .command = input.command, .facts = input.facts, .rules = rules, .guests = input.guests},
                      engine, plan);
}

}  // namespace

Status lower_docker(const PlanInput& input, Plan& plan) { return lower_container(input, Engine::docker, plan); }

Status lower_podman(const PlanInput& input, Plan& plan) { return lower_container(input, Engine::podman, plan); }

}  // namespace harn::plan
