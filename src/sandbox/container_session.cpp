// SPDX-License-Identifier: Apache-2.0
#include "harn/container_session.h"

#include <unistd.h>

#include <chrono>
#include <mutex>

#include <fmt/format.h>

#include "run/container/container.h"
#include "run/quiet_pipes.h"
#include "run/run_id.h"
#include "sandbox/appeared.h"
#include "sandbox/attend.h"
#include "sandbox/receipt.h"
#include "sandbox/record.h"

namespace harn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr useconds_t look_again_us = 2000;

Error lost(std::string message) {
  return {.code = ErrorCode::not_available, .stage = Stage::prepare, .message = std::move(message), .hint = "start a new session"};
}

// Until its first program has found every door closed.
Status await_ready(run::Container& container) {
  HARN_TRY(started, run::ask(container.client(), {"start", container.id()}));
  if (!started.ok()) return fail(run::explain(container.client(), container.image(), "start the container", started));
  auto& report = container.report();
  for (const auto until = Clock::now() + run::engine_patience; !report.ready() && Clock::now() < until; ::usleep(look_again_us))
    report.look();
  if (report.doors() != 0) return fail(sandbox::open_doors(report.doors()));
  if (!report.ready()) return fail(lost("the container started, and its first program was never heard of"));
  return {};
}

}  // namespace

struct ContainerSession::Parts {
  explicit Parts(Plan made_from, run::Container made) : plan(std::move(made_from)), container(std::move(made)) {}

  Plan plan;
  run::Container container;
  std::string id = {};
  std::mutex one_at_a_time = {};
  unsigned entered = 0;
};

ContainerSession::ContainerSession(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ContainerSession::ContainerSession(ContainerSession&&) noexcept = default;
ContainerSession& ContainerSession::operator=(ContainerSession&&) noexcept = default;
ContainerSession::~ContainerSession() = default;
const std::string& ContainerSession::id() const { return parts_->id; }

Result<ContainerSession> ContainerSession::start(const Plan& plan, const RunOptions& options) {
  const bool container = plan.backend == Backend::docker || plan.backend == Backend::podman;
  if (plan.route != Route::confined || !container || !std::holds_alternative<Wrapper>(plan.confinement))
    return fail(Error{
        .code = ErrorCode::not_supported, .stage = Stage::prepare, .message = "only a plan for docker or podman has a container to keep"});
  const run::QuietPipes quiet;
  HARN_TRY(made, run::Container::create({.plan = plan,
                                         .run_id = run::make_run_id(),
                                         .place = options.place.value_or(AbsPath::of("/var/tmp")),
                                         .canary = options.canary,
                                         .life = run::Life::kept}));
  HARN_OK(await_ready(made));
  run::sweep_containers(made.client());
  auto parts = std::make_unique<Parts>(plan, std::move(made));
  parts->id = parts->container.id();
  return ContainerSession(std::move(parts));
}

Result<Outcome> ContainerSession::exec(const Plan& plan, const RunOptions& options) {
  const std::scoped_lock alone(parts_->one_at_a_time);
  auto& container = parts_->container;
  if (!run::same_container(parts_->plan, plan))
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::prepare,
                      .message = "the plan asks for another container than this session's",
                      .hint = "start a session from that plan"});
  if (container.id().empty()) return fail(lost("the session's container was removed"));
  sandbox::Attendant attendant(plan, options);
  HARN_TRY(stdio, attendant.open());
  const auto name = fmt::format("exec-{}", ++parts_->entered);
  HARN_TRY(report, run::ReportPipe::make(container.inside().join(name)));
  const auto names = sandbox::NameWatch::before(plan, options.workspace);
  auto words = container.exec_words(plan, name, sandbox::all_terminals(stdio));
  const auto run_id = options.run_id.empty() ? run::make_run_id() : options.run_id;
  HARN_TRY(not_recorded, sandbox::record_start(plan, options, run_id));
  auto outcome = attendant.attend(container, report, std::move(words), std::move(stdio));
  ::unlink(container.inside().join(name).text().c_str());
  if (!outcome) {
    sandbox::record_no_start(options, outcome.error(), run_id);
    const auto state = container.state();
    if (state && state->status == "running") return outcome;
    return fail(lost("the session's container is gone"));
  }
  names.report(*outcome);
  if (options.receipt) {
    outcome->receipt = sandbox::make_receipt(plan, container.tried());
    outcome->receipt.layers["image"] = container.image_id();
  }
  outcome->receipt.run_id = run_id;
  outcome->not_recorded = std::move(not_recorded);
  sandbox::record_end(options, *outcome, digest(plan), run_id);
  return outcome;
}

std::string ContainerSession::remove() {
  const std::scoped_lock alone(parts_->one_at_a_time);
  parts_->container.report().close();
  return parts_->container.remove();
}

}  // namespace harn
