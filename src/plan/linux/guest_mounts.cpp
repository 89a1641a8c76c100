// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/guest_mounts.h"

#include <algorithm>

#include "base/text.h"

namespace harn::plan {
namespace {

const MountStep* nearest(const std::vector<MountStep>& mounts, const AbsPath& path) {
  const MountStep* found = nullptr;
  for (const auto& step : mounts)
    if (step.target.contains(path) && (found == nullptr || found->target.contains(step.target))) found = &step;
  return found;
}

std::unexpected<Error> cannot(const GuestMount& guest, const std::string& why, std::string hint) {
  return fail(Error{.code = ErrorCode::invalid_policy,
                    .stage = Stage::plan,
                    .message = "nothing can be mounted at " + base::quoted(guest.target.text()) + ": " + why,
                    .hint = std::move(hint)});
}

}  // namespace

Result<std::vector<MountStep>> mirrored_steps(const GuestMount& guest, const std::vector<MountStep>& mounts) {
  const auto* shown = nearest(mounts, guest.source);
  if (shown == nullptr || (shown->op != MountOp::bind && shown->op != MountOp::bind_read))
    return cannot(guest, base::quoted(guest.source.text()) + " is not open to the policy", "grant it, or mount something else");
  const bool writable = guest.writable && shown->op == MountOp::bind;
  std::vector<MountStep> out = {{.op = writable ? MountOp::bind : MountOp::bind_read,
                                 .source = guest.source.text(),
                                 .target = guest.target,
                                 .file = guest.file,
                                 .note = "guest"}};
  for (const auto& step : mounts) {
    if (step.target == guest.source || !guest.source.contains(step.target)) continue;
    auto copy = step;
    copy.target = guest.target.join(guest.source.below(step.target));
    if (!writable && copy.op == MountOp::bind) copy.op = MountOp::bind_read;
    out.push_back(std::move(copy));
  }
  return out;
}

Result<std::vector<MountStep>> guest_steps(const GuestMount& guest, const View& view) {
  const auto* around = nearest(view.mounts, guest.target);
  const bool ours = around != nullptr && (around->op == MountOp::tmpfs || around->op == MountOp::directory);
  if (!ours || around->target == guest.target)
    return cannot(guest, "something stands there already", "choose a path of its own, such as one beneath /mnt");
  return mirrored_steps(guest, view.mounts);
}

Status show_guests(const std::vector<GuestMount>& guests, Plan& plan) {
  if (guests.empty() || plan.route == Route::refused) return {};
  // A container engine was told already.
  if (plan.backend == Backend::docker || plan.backend == Backend::podman) return {};
  auto* linux = std::get_if<LinuxConfinement>(&plan.confinement);
  if (linux == nullptr || !linux->view) {
    for (const auto& guest : guests)
      plan.notes.push_back(base::quoted(guest.target.text()) + " does not exist inside: without a view it is " +
                           base::quoted(guest.source.text()));
    return {};
  }
  std::vector<MountStep> added;
  for (const auto& guest : guests) {
    HARN_TRY(steps, guest_steps(guest, *linux->view));
    added.insert(added.end(), std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end()));
  }
  linux->view->mounts.insert(linux->view->mounts.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  return {};
}

}  // namespace harn::plan
