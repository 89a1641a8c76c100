// SPDX-License-Identifier: Apache-2.0
#include "session/overlay.h"

#include <fmt/format.h>

#include "base/text.h"
#include "run/kept.h"
#include "run/try_overlay.h"
#include "session/errors.h"
#include "session/life.h"

namespace harn::session {

Result<std::optional<workspace::Pending>> begin_overlay(const PlanOptions& options, Plan& plan) {
  auto* linux = std::get_if<LinuxConfinement>(&plan.confinement);
  if (!options.overlay || linux == nullptr || !linux->view) return std::optional<workspace::Pending>();
  std::vector<AbsPath> roots;
  std::vector<MountStep*> steps;
  for (auto& step : linux->view->mounts) {
    if (step.op != MountOp::overlay) continue;
    roots.push_back(step.target);
    steps.push_back(&step);
  }
  std::string why;
  const auto can_lie = [&](const AbsPath& root, const AbsPath& place) {
    auto tried = run::try_overlay(root, place);
    if (!tried) why = tried.error().message;
    return tried;
  };
  // Nobody wants a copy of every directory that may be written.
  const auto tried = options.overlay_all ? workspace::Pending::TryLayer() : can_lie;
  HARN_TRY(pending, workspace::Pending::begin(*options.overlay, roots, tried));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& layer = pending.layers()[i];
    if (!layer.copied) continue;
    steps[i]->op = MountOp::bind;
    steps[i]->source = layer.upper.text();
    steps[i]->layer.clear();
    plan.notes.push_back(fmt::format("commands work on a copy of {}{}{}", base::quoted(layer.root.text()), why.empty() ? "" : ": ", why));
  }
  return std::optional<workspace::Pending>(std::move(pending));
}

AbsPath overlay_of(const Places& places, const std::string& id) { return place_of(places, id).join("overlay"); }

bool changes_wait(const Places& places, const Record& record) {
  const auto pending = workspace::Pending::open(overlay_of(places, record.id));
  if (!pending) return true;
  if (!*pending) return false;
  const auto changes = (*pending)->changes();
  return !changes || !changes->empty();
}

SandboxResult<Waiting> waiting_of(const Places& places, const Record& record) {
  Waiting out;
  HARN_SESSION_TAKE(lock, held(places, record.id));
  out.lock = std::move(lock);
  if (record.kept && record.boot_id == boot_id()) {
    if (const auto state = run::ask_keeper(record.socket, run::keeper::Kind::state)) {
      out.in_use = true;
      if (state->execs != 0 || state->others != 0)
        return fail_with(Kind::lifecycle, fmt::format("{} process(es) run in {}", state->execs + state->others, base::quoted(record.id)),
                         "wait until they have ended");
    }
  }
  HARN_SESSION_TRY(pending, workspace::Pending::open(overlay_of(places, record.id)), io);
  out.pending = std::move(pending);
  return out;
}

}  // namespace harn::session
