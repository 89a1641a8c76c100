// SPDX-License-Identifier: Apache-2.0
// firejail 0.9.72: no profile, every option on the command line. A setuid program that starts from
// the whole host and takes away, so this page of options closes what it would leave open.
#include <fmt/format.h>

#include <initializer_list>

#include "base/text.h"
#include "plan/coarse_gaps.h"
#include "plan/coverage.h"
#include "plan/limits.h"
#include "plan/linux/dangerous_sockets.h"
#include "plan/lower.h"
#include "plan/wrappers/firejail_paths.h"
#include "plan/wrappers/wrapper_coverage.h"

namespace harn::plan {
namespace {

using Words = std::vector<std::string>;

// Compiled into firejail 0.9.72, which refuses to start beyond them.
constexpr std::size_t firejail_max_words = 127;
constexpr std::size_t firejail_max_word_bytes = 4127;
constexpr std::size_t firejail_max_variables = 255;

// On top of firejail's own list. Names it does not know are skipped without a word, so this only adds.
constexpr std::string_view blocked_calls =
    "--seccomp=@default,@keyring,@module,@raw-io,@reboot,@swap,io_uring_setup,io_uring_enter,io_uring_register,bpf,userfaultfd,"
    "open_by_handle_at,name_to_handle_at,ptrace,process_vm_readv,process_vm_writev,pidfd_getfd,kcmp,perf_event_open,setns,unshare,"
    "mount,umount2,pivot_root,move_mount,open_tree,fsopen,fsmount,fsconfig,fspick,mount_setattr";

Words fixed_options(const HostFacts& facts) {
  Words words{program(facts, "firejail", "firejail"), "--noprofile", "--quiet", "--deterministic-exit-code", "--deterministic-shutdown"};
  words.insert(words.end(), {"--caps.drop=all", "--nonewprivs", "--ipc-namespace", "--restrict-namespaces", "--seccomp.block-secondary"});
  words.insert(words.end(),
               {"--private-dev", "--blacklist=/dev/log", "--no3d", "--nodvd", "--nosound", "--notv", "--nou2f", "--novideo", "--noinput"});
  // firejail's own ideas of what is read-only, private or shown would overlay the policy's.
  words.insert(words.end(),
               {"--allusers", "--writable-etc", "--writable-var", "--keep-var-tmp", "--writable-var-log", "--writable-run-user"});
  return words;
}

// Which kinds of sockets exist at all. firejail cannot say "none", so then the call itself goes.
void close_sockets(NetworkReach reach, bool unix_sockets, Words& words) {
  std::string kinds = unix_sockets ? ",unix" : "";
  if (reach != NetworkReach::none) kinds += ",inet,inet6";
  if (reach == NetworkReach::unrestricted) kinds += ",netlink";
  words.push_back(std::string(blocked_calls) + (kinds.empty() ? ",socket" : ""));
  if (!kinds.empty()) words.push_back("--protocol=" + kinds.substr(1));
  if (reach != NetworkReach::unrestricted) words.insert(words.end(), {"--net=none", "--x11=none"});
}

void limit_each_process(const Limits& limits, Words& words) {
  // Processor seconds and processes are left to our own limits: firejail makes soft and hard equal,
  // which turns SIGXCPU into SIGKILL, and counts processes of the user rather than of the tree.
  if (limits.max_file_size_mb) words.push_back(fmt::format("--rlimit-fsize={}", *limits.max_file_size_mb << 20));
  if (limits.max_open_files) words.push_back(fmt::format("--rlimit-nofile={}", *limits.max_open_files));
}

// firejail hands the command to this shell, quoted word by word.
Status check_shell(const PlanInput& input) {
  for (const auto* shell : {"/bin/bash", "/usr/bin/bash"})
    if (input.rules.access(AbsPath::of(shell)) != Access::none) return {};
  return fail(cannot_express("firejail starts every command through /bin/bash, which the policy does not open",
                             "name the preset system_runtime, or use another backend"));
}

Status check_size(const Words& words, const Plan& plan) {
  if (words.size() > firejail_max_words)
    return fail(cannot_express(fmt::format("firejail takes at most {} words, and this command needs {}", firejail_max_words, words.size()),
                               "grant fewer paths, put the command into a script, or use another backend"));
  for (const auto& word : words)
    if (word.size() > firejail_max_word_bytes)
      return fail(cannot_express(fmt::format("firejail takes words of at most {} bytes, and {} has {}", firejail_max_word_bytes,
                                             base::quoted(word, 40), word.size()),
                                 "put the command into a script, or use another backend"));
  if (plan.env.variables.size() > firejail_max_variables)
    return fail(cannot_express(
        fmt::format("firejail takes at most {} variables, and there are {}", firejail_max_variables, plan.env.variables.size()),
        "use env.mode = \"replace\", or use another backend"));
  return {};
}

void report_paths(FirejailPaths& paths, Coverage& coverage) {
  if (!paths.root_is_listed)
    open_gap(coverage,
             {.dimension = Dimension::reads,
              .code = "root_not_listed",
              .detail = "firejail hides directories by name, and the names in '/' are not known",
              .remedy = "make the plan on the host itself"},
             Enforcement::not_enforced);
  cover_unguarded_names(std::move(paths.absent), coverage);
  cover_links(std::move(paths.links), coverage);
}

void cover_terminal(Coverage& coverage) {
  open_gap(coverage,
           {.dimension = Dimension::devices,
            .code = "device_ioctl",
            .detail =
                "firejail cannot filter ioctl, so a command on your terminal may push input into it (TIOCSTI) unless the kernel forbids it",
            .remedy = "set sysctl dev.tty.legacy_tiocsti=0, or use the linux or bubblewrap backend"},
           Enforcement::not_enforced);
}

}  // namespace

Status lower_firejail(const PlanInput& input, Plan& plan) {
  HARN_OK(refuse_dangerous_sockets(input.policy));
  HARN_OK(check_shell(input));
  HARN_TRY(paths, firejail_paths(input));
  HARN_TRY(cwd, firejail_word("private-cwd", plan.cwd));
  const auto reach = wrapped_reach(input.policy);
  const auto sockets = wrapped_sockets(input, reach == NetworkReach::unrestricted);
  place_wrapped_temp(input, plan);

  Words words = fixed_options(input.facts);
  if (input.facts.uid != 0) words.emplace_back("--noroot");
  close_sockets(reach, sockets.full, words);
  limit_each_process(input.policy.limits, words);
  words.insert(words.end(), paths.words.begin(), paths.words.end());
  words.push_back(std::move(cwd));
  words.emplace_back("--");
  words.insert(words.end(), plan.argv.begin(), plan.argv.end());
  HARN_OK(check_size(words, plan));

  cover_separation("firejail", plan.coverage);
  cover_network(input.policy, "firejail", plan.coverage);
  cover_sockets(sockets, "firejail", plan);
  cover_joint_deletes(input.rules, plan.coverage);
  cover_terminal(plan.coverage);
  report_paths(paths, plan.coverage);
  lower_posix_limits(input.policy, input.facts, plan);
  plan.notes.emplace_back("firejail always hides /boot, /usr/lib/debug, /usr/lib/modules, /usr/src/linux and its own settings");
  plan.confinement = Wrapper{.argv = std::move(words)};
  return {};
}

}  // namespace harn::plan
