// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/child/replay.h"
#include "run/keeper_talk.h"
#include "run/kept.h"
#include "run/letter_writer.h"
#include "run/prepared_parts.h"
#include "run/spawn_failure.h"
#include "sys/files.h"

namespace harn::run {

class Keeping {
 public:
  static Result<Kept> start(PreparedChild prepared, const AbsPath& directory) {
    auto& parts = *prepared.parts_;
    Word pid = 0;
    {
      const SignalsBlocked blocked;
      pid = child::start_sharing(SIGCHLD, parts.outer_stack_top, nullptr, child::replay_outer, &parts.launch);
    }
    if (pid < 0) return fail(sys::os_failure("clone", "a process", static_cast<int>(-pid), Stage::spawn));
    reap_child(static_cast<pid_t>(pid));
    if (parts.launch.report.failed_step >= 0) return fail(explain_failure(parts));
    const pid_t keeper = parts.launch.detached_pid;
    if (keeper <= 0) {
      leave_to_orphans(std::move(prepared.parts_));  // it was killed on its way
      return fail(Error{.code = ErrorCode::os,
                        .stage = Stage::spawn,
                        .message = "the process that sets the session up was killed",
                        .hint = "try again; 'harn session gc' clears what it left"});
    }
    auto proved = prove(parts, directory);
    if (!proved) {
      ::kill(keeper, SIGKILL);
      return fail(std::move(proved).error());
    }
    return Kept{.pid = keeper, .proofs = parts.proofs};
  }

 private:
  using Word = child::Word;

  // Everything a command will give up is given up once, and what lies outside is tried.
  static Status prove(const PreparedParts& parts, const AbsPath& directory) {
    LetterWriter letter;
    keeper::Letter head;
    head.after_count = static_cast<std::uint32_t>(parts.first_proofs.steps().size());
    head.after = letter.steps(parts.first_proofs);
    auto fds = letter.fds();
    // Nobody holds a life here: any two descriptors stand where the pipes would.
    fds.insert(fds.begin(), 2, STDERR_FILENO);
    const auto text = std::move(letter).finish(head);
    HARN_TRY(connection, connect_in(directory));
    HARN_TRY(answer, ask_with_letter(connection.get(), {.kind = keeper::Kind::prove}, text, fds));
    return judge(answer.answer, {.before = {}, .after = parts.first_proofs.labels()});
  }
};

Result<Kept> keep_view(const Plan& plan, const KeepRequest& request) {
  HARN_TRY(listener, listen_in(request.directory));
  const KeeperSettings keeper{
      .listener = listener.get(), .idle_ms = request.idle_ms, .lifetime_ms = request.lifetime_ms, .freezer = request.freezer};
  HARN_TRY(prepared,
           prepare(plan, {.hide_launcher = request.hide_launcher, .fault = request.fault, .canary = request.canary, .keeper = &keeper}));
  return Keeping::start(std::move(prepared), request.directory);
}

}  // namespace harn::run
