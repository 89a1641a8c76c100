// SPDX-License-Identifier: Apache-2.0
// Plan to child scripts, in the fixed order of docs/architecture.md: signals, identity, view, then
// for the command itself stdio, directory, limits, capabilities, descriptors, no_new_privileges,
// Landlock, system calls, proof, exec.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/syscalls/bpf.h"
#include "run/init_program.h"
#include "run/prepare_command.h"
#include "run/prepare_keeper.h"
#include "run/prepare_landlock.h"
#include "run/prepare_stdio.h"
#include "run/prepare_supervisor.h"
#include "run/prepare_view.h"
#include "run/prepared_parts.h"
#include "run/prove.h"
#include "run/wrapper_files.h"
#include "sys/files.h"

namespace harn::run {
namespace {

using child::Op;

constexpr std::size_t stack_bytes = 65536;

// Handlers must not run in a child that shares our memory, and a command expects these four to work
// however its launcher treats them. A program that exists for this command has no handlers.
std::uint64_t signals_to_reset(bool may_have_handlers) {
  std::uint64_t mask = 0;
  for (int number = 1; number < NSIG; ++number) {
    const bool wanted = number == SIGPIPE || number == SIGCHLD || number == SIGXFSZ || number == SIGXCPU;
    struct sigaction action = {};
    if ((!wanted && !may_have_handlers) || ::sigaction(number, nullptr, &action) != 0) continue;
    const bool handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (handled || (wanted && action.sa_handler == SIG_IGN)) mask |= std::uint64_t{1} << (number - 1);
  }
  return mask;
}

Result<std::pair<sys::UniqueFd, sys::UniqueFd>> make_pipe(bool keep_reader) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(sys::os_failure("pipe2", "for the init program", errno, Stage::prepare));
  sys::UniqueFd reader(ends[0]);
  sys::UniqueFd writer(ends[1]);
  // The end the init program inherits must not collide with its fixed numbers.
  auto& inherited = keep_reader ? writer : reader;
  sys::UniqueFd moved(::fcntl(inherited.get(), F_DUPFD_CLOEXEC, first_free_fd));
  if (!moved) return fail(sys::os_failure("fcntl", "F_DUPFD_CLOEXEC", errno, Stage::prepare));
  inherited = std::move(moved);
  return std::pair(std::move(reader), std::move(writer));
}

class Preparer {
 public:
  Preparer(const Plan& plan, const LaunchSettings& settings, PreparedParts& parts)
      : plan_(plan),
        settings_(settings),
        parts_(parts),
        outer_(settings.keeper == nullptr ? parts.outer : parts.inner),
        inner_(settings.keeper == nullptr ? parts.inner : parts.narrowing) {}

  Status run() {
    const auto* linux = std::get_if<LinuxConfinement>(&plan_.confinement);
    const View* view = linux != nullptr && linux->view ? &*linux->view : nullptr;
    supervised_ = linux != nullptr && linux->supervisor && view == nullptr;
    answered_ = linux != nullptr && linux->supervisor;
    if (settings_.keeper != nullptr) return write_keeper(linux, view);
    if (view != nullptr) HARN_OK(write_outer(*view));
    if (answered_ && view != nullptr) HARN_OK(write_supervisor(*linux, view));
    if (supervised_) HARN_OK(write_outer_supervised(*linux));
    HARN_OK(write_inner(linux, view));
    if (view == nullptr && !supervised_) return {};
    return write_init(answered_ ? open_supervisor_program() : open_init_program());
  }

 private:
  Status write_inner(const LinuxConfinement* linux, const View* view) {
    HARN_OK(write_start(view != nullptr || supervised_));
    HARN_OK(write_stdio(settings_, inner_));
    if (view != nullptr) write_terminals(settings_, inner_);
    HARN_OK(write_place());
    if (linux != nullptr) HARN_OK(write_narrowing(*linux, view));
    else inner_.add({.op = Op::close_others, .number = 3}, "close descriptors");
    return write_command();
  }

  void add_life(ScriptWriter& writer) {
    // Whoever only knows the lifeline ends everybody else first; a sudden death would leave them alive.
    if (settings_.die_with_thread && !supervised_) writer.add({.op = Op::die_with_parent}, "die with the launcher");
    if (const auto mask = signals_to_reset(/*may_have_handlers=*/!settings_.die_with_thread); mask != 0)
      writer.add({.op = Op::reset_signals, .mask = mask}, "reset signals");
    // Where memory is only sampled, a burst that outruns us takes the tree and not its neighbours.
    // Inherited by everybody; must come before the launcher's files in /proc are closed to its user.
    if (plan_.limits.watched.contains("memory_bytes"))
      writer.add({.op = Op::write_file, .text = "/proc/self/oom_score_adj", .other = "1000"},
                 "volunteer for the kernel's out-of-memory killer");
  }

  // The view in a process that becomes its keeper, and beside it what every command will give up.
  Status write_keeper(const LinuxConfinement* linux, const View* view) {
    if (view == nullptr || answered_)
      return fail(Error{.code = ErrorCode::not_supported,
                        .stage = Stage::prepare,
                        .message = "only a plan with a view, and nobody who explains, can be kept",
                        .hint = "'harn doctor' says what user namespaces need here"});
    HARN_TRY(flags, namespaces_of(*view));
    add_life(outer_);
    write_own_view(*view, flags);
    HARN_OK(write_narrowing(*linux, view));
    HARN_OK(write_gifts(*settings_.keeper, parts_));
    parts_.init_argv = {const_cast<char*>(parts_.keep.text("harn-keeper")), nullptr};
    HARN_TRY(program, open_keeper_program());
    outer_.add({.op = Op::no_new_privileges}, "forbid new privileges to the keeper");
    outer_.add({.op = Op::drop_capabilities, .number = highest_capability()}, "drop the capabilities of the keeper");
    outer_.add({.op = Op::become_init, .number = parts_.keep.fd(std::move(program))}, "start the keeper");
    parts_.outer.add({.op = Op::start_detached, .mask = flags}, "start the keeper's process");
    return {};
  }

  // Who stands first in a view ends everybody it can see, and must see nobody else.
  static Result<std::uint64_t> namespaces_of(const View& view) {
    HARN_TRY(flags, namespace_flags(view));
    if ((flags & CLONE_NEWPID) != 0) return flags;
    return fail(Error{.code = ErrorCode::not_supported,
                      .stage = Stage::prepare,
                      .message = "a view without a pid namespace of its own cannot be run",
                      .hint = "'harn doctor' shows what this host can do"});
  }

  void write_own_view(const View& view, std::uint64_t flags) {
    if ((flags & CLONE_NEWUSER) != 0) write_identity(outer_, ::geteuid(), ::getegid());
    if (settings_.hide_launcher) outer_.add({.op = Op::hide_launcher}, "hide the launcher");
    write_view(outer_, view, terminal_name(settings_));
  }

  Status write_outer(const View& view) {
    HARN_TRY(flags, namespaces_of(view));
    parts_.clone_flags = flags;
    HARN_OK(write_lifeline());
    write_own_view(view, flags);
    if (plan_.egress && !plan_.egress->supervised && settings_.relay_channel >= 0)
      write_gates(outer_, *plan_.egress, settings_.relay_channel, parts_.gates);
    return {};
  }

  // The two pipes between the launcher and what holds the command, and the outer script's own life.
  Status write_lifeline() {
    HARN_TRY(control, make_pipe(/*keep_reader=*/false));
    HARN_TRY(status, make_pipe(/*keep_reader=*/true));
    parts_.control = std::move(control.second);
    parts_.status = std::move(status.first);
    const int lifeline = parts_.keep.fd(std::move(control.first));
    parts_.launch.kept[0] = parts_.keep.fd(std::move(status.second));
    parts_.launch.kept[1] = lifeline;
    parts_.launch.kept_count = 2;
    outer_.add({.op = Op::close_fd, .number = parts_.control.get()}, "let go of the lifeline");
    add_life(outer_);
    outer_.add({.op = Op::check_lifeline, .number = lifeline}, "see the launcher alive");
    return {};
  }

  // What acts on behalf of the command lives in a Landlock domain of the same rules, around the command's own.
  Status write_outer_supervised(const LinuxConfinement& linux) {
    HARN_OK(write_lifeline());
    if (settings_.hide_launcher) outer_.add({.op = Op::hide_launcher}, "hide the launcher");
    outer_.add({.op = Op::take_orphans}, "become the reaper of the command's tree");
    // Away from signals to the launcher's group; and no terminal where the command has none.
    if (settings_.session == Session::own) outer_.add({.op = Op::new_session}, "start a session for the supervisor");
    else outer_.add({.op = Op::new_group}, "start a process group for the supervisor");
    return write_supervisor(linux, nullptr);
  }

  // What it makes on behalf of the command is bounded as the command is: by the view it stands in, and by Landlock.
  Status write_supervisor(const LinuxConfinement& linux, const View* view) {
    if (!linux.syscalls || (view == nullptr && !linux.landlock) || (view != nullptr && linux.supervisor->decides))
      return fail(Error{.code = ErrorCode::not_supported,
                        .stage = Stage::prepare,
                        .message = "a supervisor needs a syscall filter, and Landlock or a view that decides",
                        .hint = "make the plan again with this version of harn"});
    for (const auto& limit : plan_.limits.rlimits)
      if (limit.name == "fsize") HARN_OK(write_limit(limit, outer_));
    HARN_TRY(gifts, make_gifts(*linux.supervisor, *linux.syscalls, settings_.relay));
    auto& launch = parts_.launch;
    launch.kept[launch.kept_count++] = parts_.keep.fd(std::move(gifts.post));
    launch.kept[launch.kept_count++] = parts_.keep.fd(std::move(gifts.rules));
    if (gifts.tell) launch.kept[launch.kept_count++] = parts_.keep.fd(std::move(gifts.tell));
    if (settings_.relay.stream_port != 0) launch.kept[launch.kept_count++] = settings_.relay.announcements;
    parts_.refusals = std::move(gifts.refusals);
    post_ = parts_.keep.fd(std::move(gifts.letterbox));
    outer_.add({.op = Op::no_new_privileges}, "forbid new privileges to the supervisor");
    if (!linux.landlock) return {};
    // The command's process still opens its terminal anew, inside these rules.
    const bool terminal = view != nullptr && !terminal_name(settings_).empty();
    HARN_TRY(made, make_ruleset(with_relay(supervisor_rules(*linux.landlock, terminal), settings_.relay), view, outer_));
    outer_.add({.op = Op::landlock_enforce, .number = parts_.keep.fd(std::move(made))}, "enforce Landlock on the supervisor");
    return {};
  }

  Status write_init(Result<sys::UniqueFd> opened) {
    HARN_TRY(program, std::move(opened));
    // Before the command starts: whatever could still fail afterwards could only end it again.
    outer_.add({.op = Op::no_new_privileges}, "forbid new privileges to init");
    outer_.add({.op = Op::drop_capabilities, .number = highest_capability()}, "drop the capabilities of init");
    outer_.add({.op = Op::start_inner}, "start the command's process");
    outer_.add({.op = Op::become_init, .number = parts_.keep.fd(std::move(program))}, "start init");
    return {};
  }

  // Joining a cgroup comes first of what costs anything, so that everything after it is counted.
  Status write_start(bool has_outer) {
    if (supervised_) inner_.add({.op = Op::die_with_parent}, "die with the supervisor");
    for (const auto& file : settings_.cgroups) {
      sys::UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
      if (!fd) return fail(sys::os_failure("open", file, errno, Stage::prepare));
      inner_.add({.op = Op::write_fd, .number = parts_.keep.fd(std::move(fd)), .other = "0"}, fmt::format("join {}", file));
    }
    if (!has_outer) {
      add_life(inner_);
      if (settings_.hide_launcher) inner_.add({.op = Op::hide_launcher}, "hide the launcher");
    }
    if (settings_.session == Session::own) inner_.add({.op = Op::new_session}, "start a session");
    else inner_.add({.op = Op::new_group}, "start a process group");
    if (settings_.session == Session::terminal) inner_.add({.op = Op::take_terminal, .number = settings_.terminal_fd}, "take the terminal");
    return {};
  }

  Status write_place() {
    inner_.add({.op = Op::change_directory, .text = inner_.text(plan_.cwd.text())},
               fmt::format("change to {}", base::quoted(plan_.cwd.text())));
    for (const auto& limit : plan_.limits.rlimits)
      if (limit.name != open_files) HARN_OK(write_limit(limit, inner_));
    return {};
  }

  Status write_narrowing(const LinuxConfinement& linux, const View* view) {
    inner_.add({.op = Op::new_keyring}, "take an empty keyring");
    int ruleset = -1;
    if (linux.landlock) {
      HARN_TRY(made, make_ruleset(*linux.landlock, view, settings_.keeper == nullptr ? inner_ : outer_));
      ruleset = parts_.keep.fd(std::move(made));
    }
    // With an outer script, that gave them up already.
    if (linux.drop_capabilities && view == nullptr && !supervised_)
      inner_.add({.op = Op::drop_capabilities, .number = highest_capability()}, "drop capabilities");
    inner_.add({.op = Op::close_others, .number = 3}, "close descriptors");
    if (linux.no_new_privileges) inner_.add({.op = Op::no_new_privileges}, "forbid new privileges");
    if (ruleset >= 0) inner_.add({.op = Op::landlock_enforce, .number = ruleset}, "enforce Landlock");
    // Nobody answers yet when the filter traps what opens for writing: Landlock alone must refuse those.
    const ProofRequest request{.plan = plan_, .linux = linux, .settings = settings_};
    if (answered_) write_file_proofs(request, inner_, parts_.proofs);
    if (linux.syscalls) HARN_OK(write_filter(*linux.syscalls));
    if (settings_.keeper != nullptr) return write_keeper_proofs(request, ruleset);
    if (!answered_) write_file_proofs(request, inner_, parts_.proofs);
    write_other_proofs(request, inner_, parts_.proofs);
    parts_.trials = settings_.trials;
    for (const auto& trial : parts_.trials)
      inner_.add({.op = Op::refuse_calls, .mask = trial.calls.size(), .pointer = trial.calls.data()},
                 fmt::format("find it refused to {}", trial.what));
    return {};
  }

  // With every command what nobody inside can have changed since; the rest once, before anybody is inside.
  Status write_keeper_proofs(const ProofRequest& request, int ruleset) {
    write_lasting_proofs(request, inner_, parts_.proofs);
    parts_.proofs.clear();
    write_file_proofs(request, parts_.first_proofs, parts_.proofs);
    write_other_proofs(request, parts_.first_proofs, parts_.proofs);
    parts_.ruleset = ruleset;
    return {};
  }

  Status write_filter(const SyscallFilter& filter) {
    HARN_TRY(program, plan::compile_filter(filter));
    parts_.filter = std::move(program);
    static_assert(sizeof(plan::BpfInstruction) == sizeof(sock_filter));
    parts_.filter_header = {.len = static_cast<unsigned short>(parts_.filter.size()),
                            .filter = reinterpret_cast<sock_filter*>(parts_.filter.data())};
    const auto notifies = [](const SyscallRule& rule) { return rule.action == SyscallAction::notify; };
    const bool listener = filter.otherwise == SyscallAction::notify || std::ranges::any_of(filter.rules, notifies);
    const auto sends = [&](const SyscallRule& rule) {
      return notifies(rule) && std::ranges::find(rule.names, "sendmsg") != rule.names.end();
    };
    if (answered_ && std::ranges::any_of(filter.rules, sends))
      inner_.add({.op = Op::start_courier, .number = post_}, "start who hands the listener over");
    inner_.add({.op = Op::syscall_filter, .mask = listener ? listener_flags() : 0, .pointer = &parts_.filter_header},
               "install the syscall filter");
    if (answered_) inner_.add({.op = Op::send_listener, .number = post_}, "hand its listener to the supervisor");
    return {};
  }

  Status write_command() {
    auto argv = plan_.argv;
    if (const auto* wrapper = std::get_if<Wrapper>(&plan_.confinement)) {
      HARN_TRY(filled, fill_wrapper_words(*wrapper, argv.size(), inner_));
      argv = std::move(filled.argv);
      parts_.wrapper_status = std::move(filled.status);
    }
    freeze_command(argv, plan_.env, parts_);
    parts_.init_argv = {const_cast<char*>(parts_.keep.text(answered_ ? "harn-supervisor" : "harn-init")), nullptr};
    // Last, because the steps before it open more files than the command may need.
    for (const auto& limit : plan_.limits.rlimits)
      if (limit.name == open_files) HARN_OK(write_limit(limit, inner_));
    inner_.add({.op = Op::unblock_signals}, "unblock signals");
    inner_.add({.op = Op::become_command}, fmt::format("start {}", base::quoted(argv.front())));
    return {};
  }

  const Plan& plan_;
  const LaunchSettings& settings_;
  PreparedParts& parts_;
  ScriptWriter& outer_;
  ScriptWriter& inner_;
  bool supervised_ = false;  // in place of a view
  bool answered_ = false;    // … or beside one
  int post_ = -1;            // where the command's process sends its listener
};

void link_up(PreparedParts& parts) {
  auto& launch = parts.launch;
  launch.outer = parts.outer.script();
  launch.inner = parts.inner.script();
  parts.stacks = std::make_unique_for_overwrite<char[]>(2 * stack_bytes + 16);
  const auto base = (reinterpret_cast<std::uintptr_t>(parts.stacks.get()) + 15) & ~std::uintptr_t{15};
  parts.outer_stack_top = reinterpret_cast<char*>(base + stack_bytes);
  launch.inner_stack_top = reinterpret_cast<char*>(base + 2 * stack_bytes);
  launch.candidates = parts.candidates.data();
  launch.candidate_count = parts.candidates.size();
  launch.argv = parts.argv.data();
  launch.shell_argv = parts.shell_argv.data();
  launch.envp = parts.envp.data();
  launch.init_argv = parts.init_argv.data();
}

}  // namespace

Result<PreparedChild> prepare(const Plan& plan, const LaunchSettings& settings) {
  if (plan.route == Route::refused || plan.argv.empty())
    return fail(Error{.code = ErrorCode::internal, .stage = Stage::prepare, .message = "a refused plan cannot be run"});
  auto parts = std::make_unique<PreparedParts>();
  HARN_OK(Preparer(plan, settings, *parts).run());
  parts->launch.fault = settings.fault;
  parts->launch.program_fd = settings.program_fd;
  link_up(*parts);
  return PreparedChild(std::move(parts));
}

}  // namespace harn::run
