// SPDX-License-Identifier: Apache-2.0
#include "cli/run_ask.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "ask/line_socket.h"
#include "ask/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/flags.h"
#include "cli/load.h"
#include "host/resolve_paths.h"
#include "host/user_files.h"
#include "policy/hosts.h"

namespace harn::cli {
namespace {

// What the command says while somebody reads a question would stand between the two.
struct HeldOutput {
  static constexpr std::size_t most = 4u << 20;
  const Caller& caller;
  std::function<void()> refuse = {};  // what is asked
  bool holding = false;
  std::string held = {};
  std::vector<std::pair<Output, std::size_t>> pieces = {};

  void take(Output which, std::string_view bytes) {
    // The question would scroll away, or be written over: it ends in a no, which ends the holding.
    if (holding && held.size() + bytes.size() > most && refuse) refuse();
    if (!holding) return write(which, bytes);
    held += bytes;
    pieces.emplace_back(which, bytes.size());
  }
  void hold(bool waiting) {
    holding = waiting;
    if (waiting) return;
    std::string_view rest = held;
    for (const auto& [which, size] : pieces) {
      write(which, rest.substr(0, size));
      rest.remove_prefix(size);
    }
    held.clear();
    pieces.clear();
  }
  void write(Output which, std::string_view bytes) const {
    if (which == Output::err) caller.tell(bytes);
    else if (caller.write != nullptr) caller.write(bytes);
  }
};

Result<std::chrono::milliseconds> patience_of(const Arguments& arguments) {
  const auto* text = arguments.value("ask-timeout");
  if (text == nullptr) return std::chrono::milliseconds(60'000);
  const auto read = base::parse_duration(*text);
  if (!read || read->count() <= 0)
    return wrong_usage(fmt::format("--ask-timeout: {} is no time", base::quoted(*text)), "write a time such as 30s");
  return *read;
}

// A socket the command could reach or replace is nobody to be asked.
Status check_out_of_reach(const AbsPath& socket, const Prepared& prepared) {
  HARN_TRY(real, host::resolve_existing(socket));
  const auto& named = entries(prepared.policy.process_sandbox.unix_sockets);
  const bool opened = std::ranges::any_of(named, [&](const UnixSocket& one) { return one.path == real; });
  const bool writable = prepared.rules.decide(real, FileOp::write).allowed || prepared.rules.decide(socket, FileOp::write).allowed;
  if (!opened && !writable) return {};
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::prepare,
                    .message = fmt::format("the command could reach {}, where it is to be asked about", base::quoted(socket.text())),
                    .hint = "use a socket outside of what the command may write or connect to"});
}

void add_path(std::optional<std::vector<AbsPath>>& list, const AbsPath& path) {
  if (!list) list.emplace();
  list->push_back(path);
}

// The comments above the first member stay; those between members belong to text that is written anew.
std::string leading_comments(std::string_view text) {
  std::string out;
  for (const auto line : base::split(text, '\n')) {
    if (!base::trim(line).empty() && !base::trim(line).starts_with('#')) break;
    out += std::string(line) + "\n";
  }
  return out;
}

std::string keep_in_policy(const std::string& file, const PathContext& context, const ask::Question& question) {
  const auto source = read_source(file, context);
  if (!source) return source.error().message;
  if (is_json(*source)) return fmt::format("{} is JSON, and only TOML is written", base::quoted(file));
  auto policy = parse_policy(*source, context.home);
  if (!policy) return policy.error().message;
  auto& process = policy->process_sandbox;
  const auto path = AbsPath::parse(question.target);
  if (question.access == "host") {
    auto rule = policy::parse_host_rule(question.target);
    if (!rule) return rule.error().message;
    if (!policy->network) policy->network.emplace();
    policy->network->allowed_hosts.push_back(std::move(*rule));
  } else if (!path) {
    return "it is no path";
  } else if (question.access == "connect") {
    if (!process.unix_sockets) process.unix_sockets.emplace();
    process.unix_sockets->push_back({.path = *path});
  } else {
    add_path(question.access == "read" ? process.read_roots : process.write_roots, *path);
  }
  const auto text = leading_comments(source->text) + policy_to_toml(canonical(std::move(*policy)));
  // A name that cannot be written down must not cost the whole file.
  if (const auto again = parse_policy({.path = source->path, .name = source->name, .text = text}, context.home); !again)
    return again.error().message;
  const auto kept = host::keep_user_file(source->path, text);
  return kept ? std::string() : kept.error().message;
}

}  // namespace

Status choose_asking(const Arguments& arguments, bool needs_terminal, Prepared& prepared) {
  if (!arguments.has("ask"))
    return arguments.has("ask-timeout") ? Status(wrong_usage("--ask-timeout without --ask has nothing to wait for", "add --ask"))
                                        : Status();
  if (needs_terminal && arguments.value("ask") == nullptr)
    return wrong_usage("a shell needs the terminal for itself, so nobody can be asked there",
                       "answer over a socket: --ask=/path/to/socket");
  prepared.options.ask = prepared.options.explain = true;
  // Nobody said anything about the network: then each host is a question, as each file is. Whoever wrote a policy has.
  auto& policy = prepared.policy;
  const bool unsaid =
      std::ranges::all_of(prepared.loaded.sources, [](const std::string& one) { return one == "default" || one == "flags"; });
  if (unsaid && arguments.value("net") == nullptr && !policy.network && policy.level() == SideEffectLevel::process_exec)
    policy.side_effect_level = SideEffectLevel::network;
  return {};
}

Result<std::optional<embed::AskSettings>> ask_settings(const AskedRun& run, RunOptions& options) {
  const auto& [arguments, caller, prepared, plan] = run;
  if (!arguments.has("ask")) return std::optional<embed::AskSettings>();
  const auto* linux = std::get_if<LinuxConfinement>(&plan.confinement);
  if (linux == nullptr || !linux->supervisor || !linux->supervisor->asks || !linux->landlock)
    return fail(Error{.code = ErrorCode::not_available,
                      .stage = Stage::prepare,
                      .message = "nobody can be asked here: questions need the native backend with Landlock and a supervisor",
                      .hint = "'harn doctor' says what is missing; or leave --ask out"});
  const auto* mode = arguments.value("net");
  if (mode != nullptr && *mode == "restricted" && (!plan.egress || !plan.egress->asks))
    return fail(Error{.code = ErrorCode::not_available,
                      .stage = Stage::prepare,
                      .message = "nobody can be asked about hosts here: that needs a network namespace or a supervisor",
                      .hint = "'harn doctor' says what is missing; or leave '--net restricted' out, and only files are asked about"});
  embed::AskSettings settings;
  HARN_TRY(patience, patience_of(arguments));
  settings.patience = patience;
  settings.warn = [&caller](const std::string& text) { caller.tell(fmt::format("harn: warning: {}\n", text)); };
  if (const auto* file = arguments.value("policy"))
    settings.keep = [file, context = prepared.context](const ask::Question& question) { return keep_in_policy(*file, context, question); };
  if (const auto* text = arguments.value("ask")) {
    HARN_TRY(socket, path_argument(*text, prepared.context));
    HARN_OK(check_out_of_reach(socket, prepared));
    HARN_TRY(channel, ask::connect_operator(socket, {.run_id = options.run_id, .argv = plan.argv, .cwd = plan.cwd.text()}));
    settings.channel = std::move(channel);
    return std::optional(std::move(settings));
  }
  HARN_TRY(channel, ask::open_terminal());
  settings.channel = std::move(channel);
  options.streams[0] = Stream::empty;
  if (options.streams[1] == Stream::capture) return std::optional(std::move(settings));  // --json holds all of it anyway
  options.streams = {Stream::empty, Stream::capture, Stream::capture};
  options.captured_bytes = 0;
  const auto held = std::make_shared<HeldOutput>(HeldOutput{.caller = caller});
  options.on_output = [held](Output which, std::string_view bytes) { held->take(which, bytes); };
  settings.hold = [held](bool waiting) { held->hold(waiting); };
  settings.overflow = [held](std::function<void()> refuse) { held->refuse = std::move(refuse); };
  return std::optional(std::move(settings));
}

}  // namespace harn::cli
