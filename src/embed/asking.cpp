// SPDX-License-Identifier: Apache-2.0
#include "embed/asking.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "ask/open_granted.h"
#include "ask/wire.h"
#include "audit/event.h"
#include "base/text.h"
#include "host/resolve_paths.h"
#include "plan/linux/dangerous_sockets.h"
#include "policy/egress_rules.h"
#include "sys/unique_fd.h"

namespace harn::embed {
namespace {

using Clock = std::chrono::steady_clock;

// Everything but a regular file stays closed: a directory would lead on to others, a device is no file.
bool can_be_given(const AbsPath& path, Wanted wanted, const Refused& refused) {
  const auto kind = host::look_at(path).kind;
  if (wanted == Wanted::reaching) return true;
  if (kind == PathKind::missing) return wanted == Wanted::making;
  constexpr std::uint64_t not_for_files = O_DIRECTORY | O_PATH;
  return kind == PathKind::file && (wanted == Wanted::finding || (ask::flags_of(refused) & not_for_files) == 0);
}

std::string warning_for(Origin origin, const AbsPath& path, Wanted wanted) {
  if (origin == Origin::credential) return "this is a secret; whoever has read it can use it";
  if (origin == Origin::protected_) return "programs outside run or trust this file";
  if (wanted != Wanted::reaching) return {};
  const auto danger = plan::danger_of(path);
  return danger.empty() ? "" : fmt::format("it gives the command {}", danger);
}

}  // namespace

struct Asking::Inside {
  Inside(AskSettings asked, Explainer& by, const RunOptions& of, std::string id)
      : settings(std::move(asked)),
        explainer(by),
        audit(of.audit),
        secrets(of.secrets),
        run_id(std::move(id)),
        desk({.patience = settings.patience},
             {.show = [this](const ask::Question& question) { settings.channel.show(question); },
              .withdraw = [this](const ask::Question& question, std::string_view why) { settings.channel.withdraw(question, why); },
              .ended = [this](const ask::Ended& ended) { record(ended); }}),
        all(::epoll_create1(EPOLL_CLOEXEC)),
        timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (settings.overflow)
      settings.overflow([this] {
        desk.refuse_open("the command printed too much meanwhile");
        settle_clock();
      });
    for (const int fd : {settings.channel.fd, timer.get()}) {
      epoll_event event = {};
      event.events = EPOLLIN;
      event.data.fd = fd;
      ::epoll_ctl(all.get(), EPOLL_CTL_ADD, fd, &event);
    }
  }

  void record(const ask::Ended& ended) {
    auto word = ended.word;
    if (word == ask::Word::policy) {
      const auto problem = settings.keep ? settings.keep(ended.question) : std::string("there is no policy file");
      if (!problem.empty() && settings.warn) settings.warn(fmt::format("the answer holds for this run only: {}", problem));
      if (!problem.empty()) word = ask::Word::run;
    }
    if (audit == nullptr) return;
    base::Value data;
    data.set("run_id", run_id);
    data.set("access", ended.question.access);
    data.set("target", redacted_text(ended.question.target, secrets));
    data.set("answer", ask::text_of(word));
    if (!ended.why.empty()) data.set("why", ended.why);
    if (ended.lasts) data.set("lasts_ms", static_cast<std::int64_t>(ended.lasts->count()));
    const AuditEvent events[] = {audit::make_event(AuditEventType::ask_answered, data)};
    std::ignore = audit->append(events);
  }

  // The next deadline of the desk, and whether output is to wait.
  void settle_clock() {
    itimerspec when = {};
    if (const auto next = desk.next_expiry()) {
      const auto left = std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::nanoseconds>(*next - Clock::now()).count());
      when.it_value.tv_sec = left / 1'000'000'000;
      when.it_value.tv_nsec = left % 1'000'000'000;
    }
    ::timerfd_settime(timer.get(), 0, &when, nullptr);
    const bool open = desk.has_open();
    if (open != holding && settings.hold) settings.hold(open);
    holding = open;
  }

  void listen() {
    std::uint64_t ticks = 0;
    std::ignore = ::read(timer.get(), &ticks, sizeof ticks);
    const auto heard = settings.channel.listen();
    for (const auto& [id, said] : heard.answers) desk.answer(id, said, Clock::now());
    if (heard.gone) {
      ::epoll_ctl(all.get(), EPOLL_CTL_DEL, settings.channel.fd, nullptr);
      desk.close("the operator is gone");
    }
    desk.expire(Clock::now());
    settle_clock();
  }

  AskSettings settings;
  Explainer& explainer;
  AuditSink* audit;
  std::vector<std::string> secrets;
  std::string run_id;
  ask::Desk desk;
  sys::UniqueFd all;
  sys::UniqueFd timer;
  bool holding = false;
};

Asking::Asking(AskSettings settings, Explainer& explainer, const RunOptions& options, std::string run_id)
    : inside_(std::make_unique<Inside>(std::move(settings), explainer, options, std::move(run_id))) {}

Asking::~Asking() {
  // Nobody waits any more; what is still shown is taken back.
  inside_->desk.abandon("the command has ended");
  inside_->settle_clock();
}

int Asking::fd() const { return inside_->all.get(); }

void Asking::attend() { inside_->listen(); }

void Asking::take(const Refused& refused, const QuestionAnswer& answer) {
  auto& inside = *inside_;
  if (refused.gone) {
    inside.desk.gone(refused.question);
    return inside.settle_clock();
  }
  auto judged = inside.explainer.judge(refused);
  if (!judged) return answer(false, -1);
  const auto& access = judged->denial.access;
  const auto wanted = access == "create" ? Wanted::making : access == "write" ? Wanted::writing : refused.wanted;
  const auto path = AbsPath::parse(refused.target);
  const auto real = !path                      ? Result<AbsPath>(AbsPath())
                    : wanted == Wanted::making ? host::resolve_parent(*path)
                                               : host::resolve_existing(*path);
  const bool askable = path && real && judged->origin != Origin::deny && can_be_given(*real, wanted, refused);
  if (!askable) {
    inside.explainer.keep(std::move(judged->denial));
    return answer(false, -1);
  }
  // What is shown is what is given: a name may lead elsewhere by the time of the answer.
  const auto socket = std::make_shared<sys::UniqueFd>(wanted == Wanted::reaching ? ask::hold_socket(*real) : sys::UniqueFd());
  if (wanted == Wanted::reaching && !*socket) {
    inside.explainer.keep(std::move(judged->denial));
    return answer(false, -1);
  }
  auto warning = warning_for(judged->origin, *real, wanted);
  ask::Question question{.access = access,
                         .target = real->text(),
                         .rule = judged->denial.rule,
                         .warning = warning,
                         .processes = refused.processes,
                         .lasting = inside.settings.keep && warning.empty() && wanted != Wanted::making};
  // By value: it may be answered long after this call.
  const auto settle = [&inside, refused, answer, real = *real, socket, denial = std::move(judged->denial)](bool allowed) mutable {
    sys::UniqueFd given;
    if (allowed) given = refused.wanted == Wanted::reaching ? ask::connect_granted(socket->get()) : ask::open_granted(real, refused);
    if (!allowed) inside.explainer.keep(std::move(denial));
    answer(allowed && given, given.get());
  };
  inside.desk.ask(std::move(question), refused.question, settle, Clock::now());
  inside.settle_clock();
}

void Asking::take_host(const HostQuestion& asked, const std::function<void(bool allowed)>& answer) {
  auto& inside = *inside_;
  // Apart from the supervisor's numbers, which begin anywhere but end nowhere near.
  const auto waiter = ~asked.question;
  if (asked.gone) {
    inside.desk.gone(waiter);
  } else {
    ask::Question question{.access = "host",
                           .target = asked.target,
                           .rule = std::string(policy::why(policy::Verdict::no_rule)),
                           .lasting = static_cast<bool>(inside.settings.keep)};
    inside.desk.ask(std::move(question), waiter, answer, Clock::now());
  }
  inside.settle_clock();
}

}  // namespace harn::embed
