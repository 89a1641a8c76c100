// SPDX-License-Identifier: Apache-2.0
#include "run/container/engine.h"

#include <fmt/format.h>

#include "base/text.h"
#include "harn/plan.h"
#include "run/launch.h"
#include "run/stdio.h"
#include "run/supervise.h"

namespace harn::run {
namespace {

constexpr std::uint64_t longest_answer = 4u << 20;

std::string socket_of(const EngineClient& client) {
  for (std::size_t i = 0; i + 1 < client.words.size(); ++i)
    if (client.words[i] == "--host") return client.words[i + 1];
  return {};
}

Error engine_silent(const EngineClient& client, const Answer& answer) {
  Error error{.code = ErrorCode::not_available, .stage = Stage::prepare};
  const auto said = complaint(answer);
  if (answer.timed_out) {
    error.message = fmt::format("{} did not answer within {} s", client.name, engine_patience.count());
    error.hint = fmt::format("look at '{} info'", client.name);
  } else if (base::lower_ascii(answer.err).find("permission denied") != std::string::npos) {
    error.message = fmt::format("this user may not use {}: {}", client.name, said);
    error.hint = client.name == "docker" ? "let root add you to the group docker, or use --backend podman" : "see 'podman info'";
  } else if (client.name == "docker") {
    error.message = fmt::format("the docker daemon at {} does not answer", socket_of(client));
    error.hint = "start it (systemctl start docker), or set DOCKER_HOST to the socket of one that runs";
  } else {
    error.message = fmt::format("podman does not work here: {}", said);
    error.hint = "see 'podman info'";
  }
  return error;
}

}  // namespace

std::vector<std::string> EngineClient::with(std::vector<std::string> more) const {
  auto out = words;
  out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return out;
}

Result<Answer> ask(const EngineClient& client, std::vector<std::string> words, const std::map<std::string, std::string>& more) {
  Plan plan{.route = Route::direct, .argv = client.with(std::move(words)), .cwd = AbsPath::of("/")};
  plan.env.variables = client.environment;
  plan.env.variables.insert(more.begin(), more.end());
  plan.limits.wall_time_ms = static_cast<std::uint64_t>(std::chrono::milliseconds(engine_patience).count());
  HARN_TRY(stdio, open_stdio({.streams = {Stream::empty, Stream::capture, Stream::capture}}));
  HARN_TRY(prepared, prepare(plan, {.stdio = stdio.child, .die_with_thread = client.dies_with_thread}));
  HARN_TRY(process, spawn(std::move(prepared)));
  HARN_TRY(outcome, supervise(std::move(process), std::move(stdio), {.limits = plan.limits, .captured_bytes = longest_answer}));
  return Answer{.exit_code = outcome.exit_code,
                .timed_out = outcome.timed_out,
                .out = outcome.captured_stdout.value_or(""),
                .err = outcome.captured_stderr.value_or("")};
}

void order(const EngineClient& client, std::vector<std::string> words) {
  const auto answer = ask(client, std::move(words));
  static_cast<void>(answer);
}

std::string complaint(const Answer& answer) {
  constexpr std::string_view decorations[] = {"ERROR: ", "Error: ", "Error response from daemon: ", "docker: ", "error: "};
  std::string_view line;
  // Warnings come before the reason, advice comes after it.
  for (const auto candidate : base::split(answer.err, '\n')) {
    const auto text = base::trim(candidate);
    if (text.empty() || text.starts_with("WARNING") || text.starts_with("See '") || text.starts_with("time=\"")) continue;
    const bool reason = base::lower_ascii(text).starts_with("error") || text.starts_with("docker: ");
    if (line.empty() || reason) line = text;
    if (reason) break;
  }
  for (const auto decoration : decorations)
    if (line.starts_with(decoration)) line.remove_prefix(decoration.size());
  return std::string(line.empty() ? "it says nothing" : line);
}

Error explain(const EngineClient& client, const std::string& image, std::string_view what, const Answer& answer) {
  if (answer.timed_out) return engine_silent(client, answer);
  const auto alive = ask(client, {"version", "--format", client.name == "docker" ? "{{.Server.Version}}" : "{{.Client.Version}}"});
  if (client.name == "docker" && alive && !alive->ok()) return engine_silent(client, *alive);
  const auto known = ask(client, {"image", "inspect", "--format", "{{.Id}}", image});
  if (known && !known->ok() && (!alive || alive->ok() || client.name == "podman")) {
    const auto said = complaint(*known);
    const bool missing = base::lower_ascii(said).find("no such image") != std::string::npos || said.find("not known") != std::string::npos;
    if (!missing) return engine_silent(client, *known);
    return {.code = ErrorCode::not_available,
            .stage = Stage::prepare,
            .message = fmt::format("the image {} is not on this machine, and harn fetches none", base::quoted(image)),
            .hint = fmt::format("run '{} pull {}', or name another with --image", client.name, base::shell_word(image))};
  }
  return {.code = ErrorCode::os,
          .stage = Stage::prepare,
          .message = fmt::format("{} could not {}: {}", client.name, what, complaint(answer)),
          .hint = fmt::format("'harn plan --backend {} --native' shows what it was told", client.name)};
}

}  // namespace harn::run
