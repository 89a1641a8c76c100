// SPDX-License-Identifier: Apache-2.0
#include "run/prove.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::run {
namespace {

using child::Op;

bool reaches(const AbsPath& path, int flags) {
  const sys::UniqueFd fd(::open(path.text().c_str(), flags | O_CLOEXEC));
  return static_cast<bool>(fd);
}

class Prover {
 public:
  Prover(const ProofRequest& request, ScriptWriter& inner, Proofs& proofs) : request_(request), inner_(inner), proofs_(proofs) {}

  void run_files() {
    // Inside what Landlock opens only the supervisor closes it, and that does not listen yet.
    const auto& linux = request_.linux;
    const bool by_supervisor = linux.supervisor && !linux.view && linux.landlock;
    if (!request_.settings.canary || (by_supervisor && is_granted(*linux.landlock, *request_.settings.canary))) return;
    prove_files(*request_.settings.canary);
  }
  void run_lasting() {
    const auto& canary = request_.settings.canary;
    if (canary && request_.linux.landlock && !is_granted(*request_.linux.landlock, *canary))
      prove_by_descriptor(*canary, fmt::format("find {} closed", base::quoted(canary->text())));
    if (closed_network()) prove_network();
  }
  void run_others() {
    if (closed_network() && !explained()) prove_network();
    if (holds(Dimension::signals) && !judges_signals()) prove_signals();
  }

 private:
  bool holds(Dimension dimension) const { return request_.plan.coverage[dimension].status == Enforcement::enforced; }

  bool own_network() const {
    if (!request_.linux.view) return false;
    const auto& names = request_.linux.view->namespaces;
    return std::ranges::find(names, "net") != names.end();
  }

  // Where sockets exist, what they reach is decided by the relay, or by a supervisor that does not listen yet.
  bool closed_network() const {
    const bool led = request_.plan.egress && request_.plan.egress->supervised;
    return holds(Dimension::network) && !own_network() && !led;
  }

  // Nor does who decides about signals where Landlock does not.
  bool judges_signals() const {
    const auto& linux = request_.linux;
    if (!linux.supervisor || linux.view || !linux.landlock) return false;
    return std::ranges::find(linux.landlock->scoped, "signal") == linux.landlock->scoped.end();
  }

  // Who explains refusals gives them itself, and does not listen yet.
  bool explained() const { return request_.linux.supervisor && request_.linux.supervisor->explains; }

  void prove_files(const AbsPath& canary) {
    const auto label = fmt::format("find {} closed", base::quoted(canary.text()));
    if (reaches(canary, O_RDONLY)) {
      inner_.add({.op = Op::refuse_open, .mask = O_RDONLY | O_CLOEXEC, .text = inner_.text(canary.text())}, label);
      proofs_.push_back(Dimension::reads);
    }
    if (reaches(canary, O_WRONLY)) {
      inner_.add({.op = Op::refuse_open, .mask = O_WRONLY | O_CLOEXEC, .text = inner_.text(canary.text())}, label);
      proofs_.push_back(Dimension::writes);
    }
    if (request_.linux.landlock && !is_granted(*request_.linux.landlock, canary)) prove_by_descriptor(canary, label);
  }

  // Beneath a place Landlock grants only the view closes it, and a descriptor leads around the view.
  static bool is_granted(const LandlockPlan& landlock, const AbsPath& path) {
    return std::ranges::any_of(landlock.rules, [&](const LandlockRule& rule) {
      return rule.path.contains(path) && std::ranges::find(rule.access, "read_file") != rule.access.end();
    });
  }

  // A directory held open leads around the view: only Landlock refuses this one.
  void prove_by_descriptor(const AbsPath& canary, const std::string& label) {
    sys::UniqueFd directory(::open(canary.parent().text().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return;
    const int held = inner_.keep().fd(std::move(directory));
    inner_.add({.op = Op::refuse_open_at, .number = held, .mask = O_RDONLY | O_CLOEXEC, .text = inner_.text(canary.name())}, label);
  }

  void prove_network() {
    const sys::UniqueFd control(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!control) return;
    inner_.add({.op = Op::refuse_socket, .number = AF_INET, .mask = SOCK_STREAM}, "find the network closed");
    proofs_.push_back(Dimension::network);
  }

  // In a pid namespace of its own the child knows pids 1 and 2, and they are not ours.
  void prove_signals() {
    if (::getpid() <= 2) return;
    inner_.add({.op = Op::refuse_signal, .number = ::getpid()}, "find the launcher out of reach of signals");
    proofs_.push_back(Dimension::signals);
  }

  const ProofRequest& request_;
  ScriptWriter& inner_;
  Proofs& proofs_;
};

}  // namespace

bool works_unconfined(const Trial& trial) {
  long first = -1;
  bool works = !trial.calls.empty();
  for (const auto& call : trial.calls) {
    const auto argument = [&](int index) {
      const auto value = call.arguments[index];
      return value == child::first_answer ? static_cast<std::uintptr_t>(first) : value;
    };
    const long answer = ::syscall(call.number, argument(0), argument(1), argument(2), argument(3), argument(4));
    works = works && answer >= 0;
    if (&call == &trial.calls.front()) first = answer;
    if (!works) break;
  }
  const bool opens = !trial.calls.empty() && (trial.calls.front().number == SYS_openat || trial.calls.front().number == SYS_socket);
  if (opens && first >= 0) ::close(static_cast<int>(first));
  return works;
}

void write_file_proofs(const ProofRequest& request, ScriptWriter& inner, Proofs& proofs) { Prover(request, inner, proofs).run_files(); }
void write_other_proofs(const ProofRequest& request, ScriptWriter& inner, Proofs& proofs) { Prover(request, inner, proofs).run_others(); }
void write_lasting_proofs(const ProofRequest& request, ScriptWriter& inner, Proofs& proofs) {
  Prover(request, inner, proofs).run_lasting();
}

}  // namespace harn::run
