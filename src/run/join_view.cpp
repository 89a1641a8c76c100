// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "run/keeper_talk.h"
#include "run/kept.h"
#include "run/letter_writer.h"
#include "run/prepare_command.h"
#include "sys/files.h"

namespace harn::run {
namespace {

using child::Op;

struct Pipe {
  sys::UniqueFd reader = {};
  sys::UniqueFd writer = {};
};

Result<Pipe> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(sys::os_failure("pipe2", "for the session", errno, Stage::prepare));
  return Pipe{.reader = sys::UniqueFd(ends[0]), .writer = sys::UniqueFd(ends[1])};
}

// Joining a cgroup comes first, so that everything after it is counted.
Status write_before(const Plan& plan, const JoinRequest& request, ScriptWriter& writer) {
  for (const auto& file : request.cgroups) {
    sys::UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) return fail(sys::os_failure("open", file, errno, Stage::prepare));
    writer.add({.op = Op::write_fd, .number = writer.keep().fd(std::move(fd)), .other = "0"}, fmt::format("join {}", file));
  }
  writer.add({.op = Op::die_with_parent}, "die with its holder");
  writer.add({.op = Op::new_session}, "start a session");
  for (int target = 0; target < 3; ++target)
    writer.add({.op = Op::move_fd, .number = request.stdio[static_cast<std::size_t>(target)], .mask = static_cast<std::uint64_t>(target)},
               fmt::format("set descriptor {}", target));
  if (request.own_terminal) writer.add({.op = Op::own_terminal, .number = 0}, "have the terminal as its own");
  writer.add({.op = Op::change_directory, .text = writer.text(plan.cwd.text())},
             fmt::format("change to {}", base::quoted(plan.cwd.text())));
  for (const auto& limit : plan.limits.rlimits)
    if (limit.name != open_files) HARN_OK(write_limit(limit, writer));
  return {};
}

}  // namespace

class Joining {
 public:
  static Process process(pid_t holder, Pipe status, Pipe control) {
    Process out;
    out.pid_ = holder;
    out.pidfd_ = sys::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, holder, 0)));
    out.status_ = std::move(status.reader);
    out.control_ = std::move(control.writer);
    return out;
  }
};

struct AskedCommand::Parts {
  PreparedParts prepared = {};
  std::string command = {};
  AbsPath directory = {};
  keeper::Order order = {.kind = keeper::Kind::exec};
  std::string letter = {};
  std::vector<int> fds = {};  // the pipes, then the letter's
  Pipe status = {};
  Pipe control = {};
  sys::UniqueFd connection = {};

  Status ask() const { return send_letter(connection.get(), order, letter, fds); }

  Result<Answered> start() const {
    const char word = 1;
    // Whoever has hung up may have answered before.
    if ((order.flags & keeper::waits_for_word) != 0) std::ignore = ::send(connection.get(), &word, 1, MSG_NOSIGNAL);
    return await_answer(connection.get());
  }

  // As whoever has not reserved: the keeper wakes everybody, and the holder has the rules of now.
  Result<Answered> start_anew() {
    HARN_TRY(fresh, connect_in(directory));
    connection = std::move(fresh);
    HARN_OK(tell_who_answers(connection.get()));
    HARN_OK(ask());
    return start();
  }
};

AskedCommand::AskedCommand(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
AskedCommand::AskedCommand(AskedCommand&&) noexcept = default;
AskedCommand::~AskedCommand() = default;

Result<AskedCommand> ask_to_join(const Plan& plan, JoinRequest request) {
  auto asked = std::make_unique<AskedCommand::Parts>();
  auto& parts = asked->prepared;
  auto& before = parts.outer;
  auto& after = parts.inner;
  HARN_OK(write_before(plan, request, before));
  for (const auto& limit : plan.limits.rlimits)
    if (limit.name == open_files) HARN_OK(write_limit(limit, after));
  if (request.narrower != nullptr) {
    HARN_TRY(program, plan::compile_filter(*request.narrower));
    parts.filter = std::move(program);
    parts.filter_header = {.len = static_cast<unsigned short>(parts.filter.size()),
                           .filter = reinterpret_cast<sock_filter*>(parts.filter.data())};
    after.add({.op = Op::syscall_filter, .pointer = &parts.filter_header}, "install the narrower syscall filter");
    after.add({.op = Op::refuse_socket, .number = AF_INET, .mask = SOCK_STREAM}, "find the network closed");
  }
  after.add({.op = Op::unblock_signals}, "unblock signals");
  after.add({.op = Op::become_command}, fmt::format("start {}", base::quoted(plan.argv.front())));
  freeze_command(plan.argv, plan.env, parts);

  LetterWriter letter;
  keeper::Letter head;
  head.before_count = static_cast<std::uint32_t>(before.steps().size());
  head.after_count = static_cast<std::uint32_t>(after.steps().size());
  head.candidate_count = static_cast<std::uint32_t>(parts.candidates.size());
  head.before = letter.steps(before);
  head.after = letter.steps(after);
  std::vector<char*> candidates;
  for (const auto* candidate : parts.candidates) candidates.push_back(const_cast<char*>(candidate));
  head.candidates = letter.texts(candidates);
  head.argv = letter.texts(parts.argv);
  // The child fills in which of the candidates it was; a place of 0 would end the list there.
  parts.shell_argv[1] = parts.argv.front();
  head.shell_argv = letter.texts(parts.shell_argv);
  head.envp = letter.texts(parts.envp);
  asked->fds = letter.fds();
  asked->letter = std::move(letter).finish(head);
  asked->command = plan.argv.front();
  asked->directory = std::move(request.directory);
  if (request.keeps_processes) asked->order.flags |= keeper::keeps_processes;
  if (request.waits) asked->order.flags |= keeper::waits_for_word;

  HARN_TRY(status, make_pipe());
  HARN_TRY(control, make_pipe());
  asked->fds.insert(asked->fds.begin(), {status.writer.get(), control.reader.get()});
  asked->status = std::move(status);
  asked->control = std::move(control);
  asked->connection = std::move(request.connection);
  if (!asked->connection) {
    HARN_TRY(reserved, reserve_in(asked->directory));
    asked->connection = std::move(reserved);
  }
  HARN_OK(asked->ask());
  return AskedCommand(std::move(asked));
}

Result<Process> start_asked(AskedCommand asked) {
  auto& parts = *asked.parts_;
  HARN_TRY(first, parts.start());
  auto answered = first;
  if (answered.answer.report.failed_step >= 0 && answered.answer.report.error == keeper::ask_anew) {
    HARN_TRY(second, parts.start_anew());
    answered = second;
  }
  HARN_OK(
      judge(answered.answer, {.before = parts.prepared.outer.labels(), .after = parts.prepared.inner.labels(), .command = parts.command}));
  return Joining::process(answered.holder, std::move(parts.status), std::move(parts.control));
}

}  // namespace harn::run
