// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/overlay.h"

#include <algorithm>

#include "base/text.h"
#include "plan/names.h"

namespace harn::plan {
namespace {

std::unexpected<Error> cannot(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::not_available, .stage = Stage::plan, .message = std::move(message), .hint = std::move(hint)});
}

}  // namespace

Status lay_over(const Policy& policy, const Layering& layering, Plan& plan) {
  if (plan.route == Route::refused) return {};
  auto* confinement = std::get_if<LinuxConfinement>(&plan.confinement);
  if (plan.route != Route::confined || confinement == nullptr || !confinement->view)
    return cannot("--overlay needs the view of backend 'linux', and this plan has backend '" + std::string(base::enum_name(plan.backend)) +
                      "' without one",
                  "'harn doctor' says what user namespaces need here; or leave --overlay out");
  const auto& roots = entries(policy.workspace_roots);
  const auto in_workspace = [&](const AbsPath& path) {
    if (std::ranges::find(layering.guests, path, &GuestMount::source) != layering.guests.end()) return false;
    return layering.all || std::ranges::any_of(roots, [&](const AbsPath& root) { return root.contains(path); });
  };
  std::size_t number = 0;
  std::vector<std::string> direct;
  for (auto& step : confinement->view->mounts) {
    if (step.op != MountOp::bind) continue;
    if (!in_workspace(step.target) || (layering.all && step.file)) {
      if (!step.file || layering.all) direct.push_back(base::quoted(step.target.text()));
      continue;
    }
    if (step.file || step.target.is_root())
      return cannot("no layer can lie over " + base::quoted(step.target.text()) +
                        (step.file ? ", which is a single file" : ", which holds the whole system"),
                    "grant a directory around it, or leave --overlay out");
    step.op = MountOp::overlay;
    step.layer = layering.place.join(std::to_string(number++)).text();
  }
  if (number == 0 && !layering.all)
    return cannot("--overlay has nothing to lie over: no workspace root may be written", "leave --overlay out");
  if (!direct.empty())
    plan.notes.push_back("what is written to " + base::join(direct, ", ") + " is not part of the workspace and changes at once");
  return {};
}

}  // namespace harn::plan
