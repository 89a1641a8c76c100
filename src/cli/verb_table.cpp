// SPDX-License-Identifier: Apache-2.0
// Every verb with every option: the one place where the command line is described.
#include "cli/verbs.h"

namespace harn::cli {
namespace {

constexpr std::string_view profiles = "unrestricted|worktree|wasi|os_hardened";
constexpr std::string_view presets = "system_runtime|developer_toolchains|package_manager_config|user_temp";
constexpr std::string_view backends = "auto|linux|bubblewrap|firejail|docker|podman|macos|windows|openbsd|noop";

constexpr Option path_options[] = {
    {.name = "policy", .value = "FILE", .help = "policy in place of user and project files", .complete = Complete::file, .letter = 'p'},
    {.name = "profile", .value = "NAME", .help = "how strict", .choices = profiles, .complete = Complete::choice},
    {.name = "read", .value = "PATH", .help = "readable, read-only", .repeatable = true, .complete = Complete::file},
    {.name = "write", .value = "PATH", .help = "writable, in place of the project root", .repeatable = true, .complete = Complete::file},
    {.name = "deny", .value = "PATH", .help = "neither readable nor writable", .repeatable = true, .complete = Complete::file},
    {.name = "unprotect", .value = "PATH", .help = "make a protected name writable", .repeatable = true, .complete = Complete::file},
    {.name = "preset",
     .value = "NAME",
     .help = "open only these presets",
     .repeatable = true,
     .choices = presets,
     .complete = Complete::choice},
    {.name = "overlay", .help = "changes wait: 'harn diff', 'harn apply'"},  // the last: bench takes all but this
};
constexpr Option network_options[] = {
    {.name = "net", .value = "MODE", .help = "network", .choices = "none|restricted|allowed", .complete = Complete::choice},
    {.name = "allow-host", .value = "HOST", .help = "reachable, HOST or HOST:PORT", .repeatable = true},
    {.name = "loopback", .help = "let it talk to itself over its own loopback"},
    {.name = "host-port", .value = "PORT", .help = "reachable on your own loopback", .repeatable = true},
    {.name = "publish", .value = "PORT", .help = "shown on your own loopback", .repeatable = true},
};
constexpr Option limit_options[] = {
    {.name = "memory", .value = "SIZE", .help = "of the whole process tree, such as 512M"},
    {.name = "cpu-seconds", .value = "N", .help = "processor time of the whole tree"},
    {.name = "procs", .value = "N", .help = "processes at one time"},
    {.name = "file-size", .value = "SIZE", .help = "of any file it writes, such as 100M"},
    {.name = "timeout", .value = "TIME", .help = "wall-clock time, such as 30s"},
    {.name = "output-limit", .value = "SIZE", .help = "of all output, such as 10M; with --json 64M per stream unless set"},
    {.name = "open-files", .value = "N", .help = "open files per process"},
};
constexpr Option environment_options[] = {
    {.name = "env", .value = "NAME=VALUE", .help = "set a variable", .repeatable = true, .letter = 'e'},
    {.name = "env-pass", .value = "NAME", .help = "pass a variable that looks secret", .repeatable = true},
    {.name = "env-strip", .value = "NAME", .help = "never pass this name or pattern", .repeatable = true},
    {.name = "clear-env", .help = "start from an empty environment"},
    {.name = "cwd", .value = "DIR", .help = "working directory of the command", .complete = Complete::directory, .letter = 'C'},
};
constexpr Option backend_options[] = {
    {.name = "backend", .value = "NAME", .help = "way to confine", .choices = backends, .complete = Complete::choice},
    {.name = "sandbox",  // the second: replay takes it alone, because it sets limits
     .value = "MODE",
     .help = "as Harness has it; the last two limit what nobody limited",
     .choices = "none|process|docker",
     .complete = Complete::choice},
    {.name = "image", .value = "IMAGE", .help = "container image, never fetched (HARN_IMAGE)"},
    {.name = "no-sandbox", .help = "confine nothing; recorded in the plan"},
};
constexpr Option report_options[] = {
    {.name = "json", .help = "capture the output, answer with the outcome as JSON"},
    {.name = "record", .value = "TAPE", .help = "add this run to a tape for 'harn replay'", .complete = Complete::file},
    {.name = "receipt", .value = "FILE", .help = "write what was enforced, and how that is known", .complete = Complete::file},
    {.name = "explain", .help = "say what was refused, by which rule, and what would allow it"},
    {.name = "ask", .help = "ask before a file or socket is refused", .attachable = "SOCKET"},
    {.name = "ask-timeout", .value = "TIME", .help = "no answer is a no after this time, 60s unless set"},
    {.name = "audit", .value = "MODE", .help = "how the audit log is kept", .choices = "off|process|power", .complete = Complete::choice},
};
constexpr Option plan_options[] = {
    {.name = "platform",
     .value = "OS",
     .help = "plan for another system",
     .choices = "linux|macos|windows|openbsd",
     .complete = Complete::choice},
    {.name = "facts", .value = "FILE", .help = "plan for the host this JSON describes", .complete = Complete::file},
    {.name = "explain-path", .value = "PATH", .help = "what may be done there, and why", .repeatable = true, .complete = Complete::file},
    {.name = "native", .help = "only the text for the operating system"},
    {.name = "json", .help = "the whole plan as JSON"},
};
constexpr OptionGroup run_groups[] = {{"Paths", path_options},      {"Network", network_options},
                                      {"Limits", limit_options},    {"Environment", environment_options},
                                      {"Backend", backend_options}, {"Report", report_options}};
constexpr OptionGroup plan_groups[] = {{"Paths", path_options},      {"Network", network_options},
                                       {"Limits", limit_options},    {"Environment", environment_options},
                                       {"Backend", backend_options}, {"Plan", plan_options}};

constexpr Option replay_options[] = {
    {.name = "cursor", .value = "FILE", .help = "remember what was played; each call takes the next", .complete = Complete::file},
    {.name = "at", .value = "N", .help = "the Nth exec, and no other"},
    {.name = "ignore",
     .value = "KIND",
     .help = "may differ",
     .repeatable = true,
     .choices = "cwd|env|stdin|policy|order|missing",
     .complete = Complete::choice},
    {.name = "ignore-env", .value = "NAME", .help = "this variable may differ", .repeatable = true},
    {.name = "list", .help = "what is on the tape, one line per exec"},
    {.name = "json", .help = "answer with records, or with what differs, as JSON"},
};
constexpr OptionGroup replay_groups[] = {
    {"Replay", replay_options},           {"Paths", path_options},
    {"Network", network_options},         {"Limits", limit_options},
    {"Environment", environment_options}, {"Backend", std::span<const Option>(backend_options).subspan(1, 1)}};

constexpr Option bench_options[] = {
    {.name = "as-recorded", .help = "under the tape's policies even where they allow more than yours"},
    {.name = "audit", .value = "MODE", .help = "how the audit log is kept", .choices = "off|process|power", .complete = Complete::choice},
    {.name = "json", .help = "answer as JSON"},
};
constexpr OptionGroup bench_groups[] = {{"Bench", bench_options},
                                        {"What the tape may ask for: paths", std::span<const Option>(path_options).first(7)},
                                        {"Network", network_options},
                                        {"Limits", limit_options},
                                        {"Environment", std::span<const Option>(environment_options).first(4)}};

constexpr Option doctor_options[] = {
    {.name = "policy", .value = "FILE", .help = "policy in place of user and project files", .complete = Complete::file, .letter = 'p'},
    {.name = "profile", .value = "NAME", .help = "how strict", .choices = profiles, .complete = Complete::choice},
    {.name = "read", .value = "PATH", .help = "readable, read-only", .repeatable = true, .complete = Complete::file},
    {.name = "write", .value = "PATH", .help = "writable, in place of the project root", .repeatable = true, .complete = Complete::file},
    {.name = "deny", .value = "PATH", .help = "neither readable nor writable", .repeatable = true, .complete = Complete::file},
    {.name = "net", .value = "MODE", .help = "network", .choices = "none|restricted|allowed", .complete = Complete::choice},
    {.name = "loopback", .help = "let it talk to itself over its own loopback"},
    {.name = "backend", .value = "NAME", .help = "way to confine", .choices = backends, .complete = Complete::choice},
    {.name = "json", .help = "answer as JSON"},
};
constexpr OptionGroup doctor_groups[] = {{"Options", doctor_options}};

constexpr Option json_only[] = {{.name = "json", .help = "answer as JSON"}};
constexpr OptionGroup json_groups[] = {{"Options", json_only}};

constexpr Option show_options[] = {
    {.name = "toml", .help = "as TOML (default)"},
    {.name = "json", .help = "as JSON"},
    {.name = "canonical", .help = "the JSON its digest is made of"},
};
constexpr OptionGroup show_groups[] = {{"Options", show_options}};

constexpr Option import_options[] = {
    {.name = "from", .value = "DIALECT", .help = "whose file it is", .choices = "harness|openhuman", .complete = Complete::choice},
    {.name = "json", .help = "policy and report as JSON"},
};
constexpr OptionGroup import_groups[] = {{"Options", import_options}};

constexpr Option trust_options[] = {
    {.name = "list", .help = "show the digests that are trusted"},
    {.name = "forget", .help = "trust this file no longer"},
};
constexpr OptionGroup trust_groups[] = {{"Options", trust_options}};

constexpr Option waiting_in{.name = "session", .value = "ID", .help = "of this session, in place of the project's"};
constexpr Option diff_options[] = {
    waiting_in,
    {.name = "stat", .help = "only what changed, one path per line"},
    {.name = "json", .help = "answer as JSON"},
};
constexpr OptionGroup diff_groups[] = {{"Options", diff_options}};
constexpr Option apply_options[] = {
    waiting_in,
    {.name = "protected", .help = "protected names too"},
    {.name = "json", .help = "answer as JSON"},
};
constexpr OptionGroup apply_groups[] = {{"Options", apply_options}};

constexpr Option discard_options[] = {
    waiting_in,
    {.name = "json", .help = "answer as JSON"},
};
constexpr OptionGroup discard_groups[] = {{"Options", discard_options}};
constexpr Option terminate_options[] = {
    {.name = "discard", .help = "also where changes of the workspace wait in it, which are lost"},
    {.name = "json", .help = "answer as JSON"},
};
constexpr OptionGroup terminate_groups[] = {{"Options", terminate_options}};

constexpr Option session_options[] = {
    {.name = "id", .value = "NAME", .help = "of the session; one is made where none is given"},
    {.name = "label", .value = "NAME=VALUE", .help = "kept with it", .repeatable = true},
    {.name = "memory-dir", .value = "DIR", .help = "shown read-only at /mnt/memory", .complete = Complete::directory},
    {.name = "outputs-dir", .value = "DIR", .help = "shown writable at /mnt/session/outputs", .complete = Complete::directory},
    {.name = "mount", .value = "SOURCE:TARGET[:rw]", .help = "shown at TARGET inside, read-only without :rw", .repeatable = true},
    {.name = "idle-timeout", .value = "TIME", .help = "everybody sleeps after this long without a command"},
    {.name = "lifetime", .value = "TIME", .help = "it ends after this long, whatever runs"},
    {.name = "total-memory", .value = "SIZE", .help = "of everybody in it together, such as 2G"},
    {.name = "total-procs", .value = "N", .help = "of everybody in it together"},
    {.name = "total-cpus", .value = "N", .help = "processors for everybody in it together, such as 1.5"},
    {.name = "backend", .value = "NAME", .help = "who keeps it", .choices = "local|container|docker|podman", .complete = Complete::choice},
    {.name = "image", .value = "NAME", .help = "what its container is made of"},
    {.name = "json", .help = "answer as JSON"},
    {.name = "audit", .value = "MODE", .help = "how the audit log is kept", .choices = "off|process|power", .complete = Complete::choice},
};
constexpr OptionGroup create_groups[] = {{"Session", session_options},
                                         {"Paths", path_options},
                                         {"Network", network_options},
                                         {"Limits", limit_options},
                                         {"Environment", environment_options}};
constexpr Option exec_options[] = {
    {.name = "cwd", .value = "DIR", .help = "working directory inside", .letter = 'C'},
    {.name = "env", .value = "NAME=VALUE", .help = "set a variable", .repeatable = true, .letter = 'e'},
    {.name = "timeout", .value = "TIME", .help = "wall-clock time, such as 30s"},
    {.name = "receipt", .value = "FILE", .help = "write what was enforced, and how that is known", .complete = Complete::file},
    {.name = "tty", .help = "give it a terminal of its own, connected to this one", .letter = 't'},
    {.name = "keep", .help = "let what it leaves behind go on in the session"},
    {.name = "json", .help = "capture the output, answer with the outcome as JSON"},
    {.name = "audit", .value = "MODE", .help = "how the audit log is kept", .choices = "off|process|power", .complete = Complete::choice},
};
constexpr OptionGroup exec_groups[] = {{"Options", exec_options}};
constexpr Option session_network_options[] = {
    {.name = "allow-host", .value = "HOST", .help = "with restricted", .repeatable = true},
    {.name = "json", .help = "answer as JSON"},
};
constexpr OptionGroup session_network_groups[] = {{"Options", session_network_options}};
constexpr Option snapshot_options[] = {
    {.name = "name", .value = "NAME", .help = "of the snapshot; one is made where none is given"},
    {.name = "list", .help = "show all of them"},
    {.name = "remove", .value = "NAME", .help = "forget this one"},
    {.name = "json", .help = "answer as JSON"},
};
constexpr OptionGroup snapshot_groups[] = {{"Options", snapshot_options}};

constexpr Option audit_place = {.name = "dir", .value = "DIR", .help = "of another log, such as a copy", .complete = Complete::directory};
constexpr Option verify_options[] = {
    audit_place,
    {.name = "key", .value = "KEY", .help = "public key of its seal, noted elsewhere"},
    {.name = "expect", .value = "SEQ:HASH", .help = "an event noted elsewhere that must be in it"},
    {.name = "json", .help = "answer as JSON"},
};
constexpr OptionGroup verify_groups[] = {{"Options", verify_options}};
constexpr Option events_options[] = {
    audit_place,
    {.name = "type", .value = "TYPE", .help = "only events of this type", .repeatable = true},
    {.name = "session", .value = "ID", .help = "only events of this session"},
    {.name = "lines", .value = "N", .help = "only the last N", .letter = 'n'},
    {.name = "json", .help = "one event as JSON per line"},
};
constexpr OptionGroup events_groups[] = {{"Options", events_options}};
constexpr Option tail_options[] = {
    audit_place,
    {.name = "follow", .help = "wait for more", .letter = 'f'},
    {.name = "lines", .value = "N", .help = "the last N, 10 unless set", .letter = 'n'},
    {.name = "json", .help = "one event as JSON per line"},
};
constexpr OptionGroup tail_groups[] = {{"Options", tail_options}};
constexpr Option export_options[] = {
    audit_place,
    {.name = "format", .value = "FORMAT", .help = "of the answer", .choices = "json|csv", .complete = Complete::choice},
};
constexpr OptionGroup export_groups[] = {{"Options", export_options}};
constexpr Option keygen_options[] = {
    {.name = "replace", .help = "make a new key although there is one"},
    {.name = "json", .help = "answer as JSON"},
};
constexpr OptionGroup keygen_groups[] = {{"Options", keygen_options}};

constexpr Option learn_options[] = {
    {.name = "output",
     .value = "FILE",
     .help = "write the policy here; one that is there is added to",
     .complete = Complete::file,
     .letter = 'o'},
    {.name = "runs", .value = "N", .help = "watched runs in a row that must need nothing more, 1 unless set"},
    {.name = "yes-for", .value = "WHAT", .help = "grant this secret, protected name, socket or host", .repeatable = true},
    {.name = "prune", .help = "leave out what the policy grants and nothing used"},
    {.name = "keep", .help = "let the runs change files; else changes are discarded"},
    {.name = "timeout", .value = "TIME", .help = "wall-clock time of each run, such as 5m"},
    {.name = "cwd", .value = "DIR", .help = "working directory of the command", .complete = Complete::directory, .letter = 'C'},
};
constexpr OptionGroup learn_groups[] = {{"Options", learn_options}};

constexpr Verb table[] = {
    {.name = "run",
     .operands = "[--] CMD [ARG...]",
     .summary = "Run a command inside the boundary its policy describes.",
     .groups = run_groups,
     .min_operands = 1,
     .takes_command = true,
     .runs_command = true,
     .run = run_verb},
    {.name = "shell", .summary = "Start your shell inside the boundary.", .groups = run_groups, .runs_command = true, .run = shell_verb},
    {.name = "explain",
     .operands = "[--] CMD [ARG...]",
     .summary = "Run a command, and say what was refused and what opens it.",
     .groups = run_groups,
     .min_operands = 1,
     .takes_command = true,
     .runs_command = true,
     .run = explain_verb},
    {.name = "learn",
     .operands = "[--] CMD [ARG...]",
     .summary = "Watch a command and write the least policy that suffices.",
     .groups = learn_groups,
     .min_operands = 1,
     .takes_command = true,
     .run = learn_verb},
    {.name = "plan",
     .operands = "[--] CMD [ARG...]",
     .summary = "Show what the system would be told, and what that enforces.",
     .groups = plan_groups,
     .min_operands = 1,
     .takes_command = true,
     .run = plan_verb},
    {.name = "replay",
     .operands = "TAPE [-- CMD [ARG...]]",
     .summary = "Answer as a command did when it was put on a tape.",
     .groups = replay_groups,
     .min_operands = 1,
     .max_operands = 100'000,
     .runs_command = true,
     .complete = Complete::file,
     .run = replay_verb},
    {.name = "test bench",
     .operands = "TAPE",
     .summary = "Run a tape's commands again under its policies (exit 1: differs).",
     .groups = bench_groups,
     .min_operands = 1,
     .max_operands = 1,
     .runs_command = true,
     .complete = Complete::file,
     .run = test_bench},
    {.name = "diff",
     .operands = "[PATH...]",
     .summary = "Show what commands run with --overlay made of the workspace.",
     .groups = diff_groups,
     .max_operands = 1000,
     .complete = Complete::file,
     .run = diff_verb},
    {.name = "apply",
     .operands = "[PATH...]",
     .summary = "Put these changes into the workspace (exit 1: some stay).",
     .groups = apply_groups,
     .max_operands = 1000,
     .complete = Complete::file,
     .run = apply_verb},
    {.name = "discard", .summary = "Forget these changes.", .groups = discard_groups, .run = discard_verb},
    {.name = "session create", .summary = "Make a sandbox that stays, and print its id.", .groups = create_groups, .run = session_create},
    {.name = "session exec",
     .operands = "ID [--] CMD [ARG...]",
     .summary = "Run a command in a session.",
     .groups = exec_groups,
     .min_operands = 2,
     .takes_command = true,
     .runs_command = true,
     .run = session_exec},
    {.name = "session list", .summary = "Show your sessions.", .groups = json_groups, .run = session_list},
    {.name = "session show",
     .operands = "ID",
     .summary = "Show one session, its mounts and its boundary.",
     .groups = json_groups,
     .min_operands = 1,
     .max_operands = 1,
     .run = session_show},
    {.name = "session mount",
     .operands = "ID SOURCE:TARGET[:rw]",
     .summary = "Show a file or directory of yours in a session.",
     .groups = json_groups,
     .min_operands = 2,
     .max_operands = 2,
     .run = session_mount},
    {.name = "session network",
     .operands = "ID MODE",
     .summary = "Close the network of a session, or open it again.",
     .groups = session_network_groups,
     .min_operands = 2,
     .max_operands = 2,
     .run = session_network},
    {.name = "session snapshot",
     .operands = "[ID]",
     .summary = "Keep the files of a session as they are now.",
     .groups = snapshot_groups,
     .max_operands = 1,
     .run = session_snapshot},
    {.name = "session restore",
     .operands = "ID SNAPSHOT",
     .summary = "Make the files of a session what they were; what stood there is kept.",
     .groups = json_groups,
     .min_operands = 2,
     .max_operands = 2,
     .run = session_restore},
    {.name = "session suspend",
     .operands = "ID",
     .summary = "Let everybody in a session sleep; a command wakes it.",
     .groups = json_groups,
     .min_operands = 1,
     .max_operands = 1,
     .run = session_suspend},
    {.name = "session resume",
     .operands = "ID",
     .summary = "Wake a session.",
     .groups = json_groups,
     .min_operands = 1,
     .max_operands = 1,
     .run = session_resume},
    {.name = "session terminate",
     .operands = "ID...",
     .summary = "End sessions, with everybody and everything in them.",
     .groups = terminate_groups,
     .min_operands = 1,
     .max_operands = 1000,
     .run = session_terminate},
    {.name = "session gc", .summary = "Clear away sessions that a crash or reboot ended.", .groups = json_groups, .run = session_gc},
    {.name = "policy check",
     .operands = "FILE",
     .summary = "Say whether a policy file is correct, and its digest.",
     .groups = json_groups,
     .min_operands = 1,
     .max_operands = 1,
     .complete = Complete::file,
     .run = policy_check},
    {.name = "policy show",
     .operands = "FILE",
     .summary = "Print a policy file again, as TOML or JSON.",
     .groups = show_groups,
     .min_operands = 1,
     .max_operands = 1,
     .complete = Complete::file,
     .run = policy_show},
    {.name = "policy intersect",
     .operands = "CEILING REQUESTED",
     .summary = "What both policies allow, and what was taken away.",
     .groups = json_groups,
     .min_operands = 2,
     .max_operands = 2,
     .complete = Complete::file,
     .run = policy_intersect},
    {.name = "policy within",
     .operands = "CEILING REQUESTED",
     .summary = "Say whether REQUESTED stays within CEILING (exit 1: no).",
     .groups = json_groups,
     .min_operands = 2,
     .max_operands = 2,
     .complete = Complete::file,
     .run = policy_within},
    {.name = "policy lower",
     .operands = "PERMISSION",
     .summary = "Turn a {read, write, exec, net} permission into a policy.",
     .groups = json_groups,
     .min_operands = 1,
     .max_operands = 1,
     .complete = Complete::file,
     .run = policy_lower},
    {.name = "policy import",
     .operands = "FILE",
     .summary = "Read another tool's sandbox settings into a policy.",
     .groups = import_groups,
     .min_operands = 1,
     .max_operands = 1,
     .complete = Complete::file,
     .run = policy_import},
    {.name = "policy schema", .summary = "Print the JSON Schema of a policy.", .run = policy_schema_verb},
    {.name = "trust",
     .operands = "[FILE]",
     .summary = "Let a project's harn.toml ask for more than your settings.",
     .groups = trust_groups,
     .max_operands = 1,
     .complete = Complete::file,
     .run = trust_verb},
    {.name = "doctor",
     .operands = "[sandbox]",
     .summary = "Prove what this host can enforce; 'sandbox' attacks the boundary.",
     .groups = doctor_groups,
     .max_operands = 1,
     .complete = Complete::choice,
     .choices = "sandbox",
     .run = doctor_verb},
    {.name = "audit verify",
     .summary = "Say whether the audit log is as it was written (exit 1: no).",
     .groups = verify_groups,
     .run = audit_verify},
    {.name = "audit show", .summary = "Show what was decided and run.", .groups = events_groups, .run = audit_show},
    {.name = "audit tail", .summary = "Show the last events, and new ones as they come.", .groups = tail_groups, .run = audit_tail},
    {.name = "audit export", .summary = "Print the whole log as JSON or CSV.", .groups = export_groups, .run = audit_export},
    {.name = "audit keygen", .summary = "Make a key and seal the log with it from now on.", .groups = keygen_groups, .run = audit_keygen},
    {.name = "completion",
     .operands = "SHELL",
     .summary = "Print the completion script of bash, zsh or fish.",
     .min_operands = 1,
     .max_operands = 1,
     .complete = Complete::choice,
     .choices = "bash|zsh|fish",
     .run = completion_verb},
    {.name = "version", .summary = "Print the version.", .groups = json_groups, .run = version_verb},
    {.name = "help",
     .operands = "[VERB...]",
     .summary = "Show this overview, or the help of one verb.",
     .max_operands = 2,
     .run = help_verb},
};

// Not for people: what runs inside a sandbox that is being measured.
constexpr Verb probe = {.name = "probe",
                        .operands = "ATTACK [NAME=VALUE...]",
                        .summary = "Attack from inside; used by 'harn doctor sandbox'.",
                        .min_operands = 1,
                        .takes_command = true,
                        .run = probe_verb};

}  // namespace

std::span<const Verb> verbs() { return table; }

const Verb* find_verb(std::span<const std::string> words) {
  const auto named = [](std::string_view name) -> const Verb* {
    for (const auto& verb : table)
      if (verb.name == name) return &verb;
    return name == probe.name ? &probe : nullptr;
  };
  if (words.size() >= 2)
    if (const auto* verb = named(words[0] + " " + words[1])) return verb;
  return words.empty() ? nullptr : named(words[0]);
}

}  // namespace harn::cli
