// SPDX-License-Identifier: Apache-2.0
#include "harn/container_session.h"

#include <mutex>

#include <fmt/format.h>

#include "run/container/container.h"
#include "run/quiet_pipes.h"
#include "run/run_id.h"
#include "sandbox/enter_container.h"

namespace harn {
namespace {

Error lost(std::string message) {
  return {.code = ErrorCode::not_available, .stage = Stage::prepare, .message = std::move(message), .hint = "start a new session"};
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
  HARN_OK(sandbox::await_container(made));
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
  return sandbox::enter_container(container, plan, options, fmt::format("exec-{}", ++parts_->entered));
}

std::string ContainerSession::remove() {
  const std::scoped_lock alone(parts_->one_at_a_time);
  parts_->container.report().close();
  return parts_->container.remove();
}

}  // namespace harn
