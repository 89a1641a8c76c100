// SPDX-License-Identifier: Apache-2.0
// The verbs of harn.exe: those whose mechanisms exist on Windows, and of their options those that mean something there.
#include "cli/verbs.h"

namespace harn::cli {
namespace {

constexpr std::string_view profiles = "unrestricted|worktree|os_hardened";

constexpr Option path_options[] = {
    {.name = "policy", .value = "FILE", .help = "policy in place of user and project files", .letter = 'p'},
    {.name = "profile", .value = "NAME", .help = "how strict", .choices = profiles},
    {.name = "read", .value = "PATH", .help = "readable, read-only", .repeatable = true},
    {.name = "write", .value = "PATH", .help = "writable, in place of the project root", .repeatable = true},
    {.name = "deny", .value = "PATH", .help = "neither readable nor writable", .repeatable = true},
    {.name = "unprotect", .value = "PATH", .help = "make a protected name writable", .repeatable = true},
    {.name = "preset",
     .value = "NAME",
     .help = "open only these presets",
     .repeatable = true,
     .choices = "system_runtime|developer_toolchains|package_manager_config|user_temp"},
    {.name = "net", .value = "MODE", .help = "network", .choices = "none|restricted|allowed"},
    {.name = "allow-host", .value = "HOST", .help = "refused here: Windows opens all of the network or none", .repeatable = true},
};
constexpr Option limit_options[] = {
    {.name = "memory", .value = "SIZE", .help = "of the whole process tree, such as 512M"},
    {.name = "cpu-seconds", .value = "N", .help = "processor time of the whole tree"},
    {.name = "procs", .value = "N", .help = "processes at one time"},
    {.name = "timeout", .value = "TIME", .help = "wall-clock time, such as 30s"},
    {.name = "output-limit", .value = "SIZE", .help = "of all output, such as 10M"},
};
constexpr Option environment_options[] = {
    {.name = "env", .value = "NAME=VALUE", .help = "set a variable", .repeatable = true, .letter = 'e'},
    {.name = "env-pass", .value = "NAME", .help = "pass a variable that looks secret", .repeatable = true},
    {.name = "env-strip", .value = "NAME", .help = "never pass this name or pattern", .repeatable = true},
    {.name = "clear-env", .help = "start from an empty environment"},
    {.name = "cwd", .value = "DIR", .help = "working directory of the command", .letter = 'C'},
    {.name = "no-sandbox", .help = "confine nothing; recorded in the plan"},
};
constexpr Option report_options[] = {
    {.name = "json", .help = "capture the output, answer with the outcome as JSON"},
    {.name = "receipt", .value = "FILE", .help = "write what was enforced, and how that is known"},
};
constexpr Option plan_options[] = {
    {.name = "platform", .value = "OS", .help = "plan for another system", .choices = "linux|macos|windows|openbsd"},
    {.name = "facts", .value = "FILE", .help = "plan for the host this JSON describes"},
    {.name = "native", .help = "only the text for the operating system"},
    {.name = "json", .help = "the whole plan as JSON"},
};
constexpr Option json_option[] = {{.name = "json", .help = "answer as JSON"}};
constexpr OptionGroup run_groups[] = {
    {"Paths and network", path_options}, {"Limits", limit_options}, {"Environment", environment_options}, {"Report", report_options}};
constexpr OptionGroup plan_groups[] = {
    {"Paths and network", path_options}, {"Limits", limit_options}, {"Environment", environment_options}, {"Plan", plan_options}};
constexpr OptionGroup json_groups[] = {{"Options", json_option}};

constexpr std::size_t any_number = 100'000;

constexpr Verb table[] = {
    {.name = "run",
     .operands = "[--] CMD [ARG...]",
     .summary = "Run a command inside a boundary the operating system enforces.",
     .groups = run_groups,
     .min_operands = 1,
     .max_operands = any_number,
     .takes_command = true,
     .runs_command = true,
     .run = run_verb},
    {.name = "plan",
     .operands = "[--] CMD [ARG...]",
     .summary = "Show what the operating system would be told.",
     .groups = plan_groups,
     .min_operands = 1,
     .max_operands = any_number,
     .takes_command = true,
     .run = plan_verb},
    {.name = "doctor", .summary = "Prove what this host can enforce.", .groups = json_groups, .run = doctor_verb},
    {.name = "version", .summary = "Print the version.", .groups = json_groups, .run = version_verb},
    {.name = "help", .operands = "[VERB]", .summary = "Show this overview, or the help of one verb.", .max_operands = 1, .run = help_verb},
};

}  // namespace

std::span<const Verb> verbs() { return table; }

const Verb* find_verb(std::span<const std::string> words) {
  for (const auto& verb : table)
    if (!words.empty() && verb.name == words[0]) return &verb;
  return nullptr;
}

}  // namespace harn::cli
