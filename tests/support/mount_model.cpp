// SPDX-License-Identifier: Apache-2.0
#include "support/mount_model.h"

#include <algorithm>
#include <string_view>

namespace harn::test {
namespace {

using Steps = std::vector<MountStep>;

bool is_bind(const MountStep& step) { return step.op == MountOp::bind || step.op == MountOp::bind_read; }
bool is_mount(const MountStep& step) { return step.op != MountOp::symlink && step.op != MountOp::directory; }

// The step whose content is seen at `place` after the first `count` steps: the last one at or above it.
const MountStep* seen_at(const Steps& steps, std::size_t count, const AbsPath& place) {
  for (auto i = count; i > 0; --i)
    if (steps[i - 1].target.contains(place)) return &steps[i - 1];
  return nullptr;
}

constexpr std::string_view shared_devices[] = {"null", "zero", "full", "random", "urandom", "tty"};

// The minimal /dev lends a few harmless nodes of the host; nothing else in it is the host's.
Access device_access(const MountStep& dev, const AbsPath& path) {
  const auto name = dev.target.below(path);
  return std::ranges::find(shared_devices, name) != std::end(shared_devices) ? Access::write : Access::none;
}

bool host_has(const HostFacts& facts, const MountStep& bind, const AbsPath& place) {
  return facts.exists(AbsPath::of(bind.source).join(bind.target.below(place)));
}

// A mount point must exist already, or be made where only the sandbox sees it.
bool has_place(const View& view, std::size_t index, const HostFacts& facts) {
  const auto& step = view.mounts[index];
  const auto* around = seen_at(view.mounts, index, step.target);
  if (around == nullptr || around->op == MountOp::symlink || around->op == MountOp::proc) return false;
  const bool makes_name = !is_mount(step);
  if (is_bind(*around)) return !makes_name && host_has(facts, *around, step.target);
  return around->target == step.target ? is_mount(step) : true;
}

}  // namespace

Access mount_access(const View& view, const AbsPath& path) {
  auto best = Access::none;
  for (const auto& step : view.mounts) {
    if (step.op == MountOp::dev && seen_at(view.mounts, view.mounts.size(), path) == &step)
      best = std::max(best, device_access(step, path));
    if (!is_bind(step) || !path.text().starts_with(step.source)) continue;
    const auto source = AbsPath::of(step.source);
    if (!source.contains(path)) continue;
    const auto place = step.target.join(source.below(path));
    if (seen_at(view.mounts, view.mounts.size(), place) != &step) continue;
    best = std::max(best, step.op == MountOp::bind ? Access::write : Access::read);
  }
  return best;
}

bool mount_allows(const View& view, const AbsPath& path, FileOp op) {
  const bool changes = op == FileOp::write || op == FileOp::remove;
  if (op == FileOp::remove && is_mount_point(view, path)) return false;
  return mount_access(view, path) >= (changes ? Access::write : Access::read);
}

bool is_mount_point(const View& view, const AbsPath& path) {
  return std::ranges::any_of(view.mounts, [&](const MountStep& step) { return is_mount(step) && step.target == path; });
}

std::vector<std::string> mount_faults(const View& view, const HostFacts& facts) {
  std::vector<std::string> faults;
  const auto& steps = view.mounts;
  if (steps.empty() || !steps.front().target.is_root() || !is_mount(steps.front())) faults.emplace_back("the first step does not make /");
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const auto& step = steps[i];
    if (!has_place(view, i, facts)) faults.push_back("no place for " + step.target.text() + " (" + step.note + ")");
    if (is_bind(step) && !facts.exists(AbsPath::of(step.source)) && step.source != "/proc") faults.push_back("no source " + step.source);
  }
  return faults;
}

std::vector<AbsPath> unpinned_places(const View& view) {
  std::vector<AbsPath> loose;
  for (std::size_t i = 1; i < view.mounts.size(); ++i) {
    const auto& step = view.mounts[i];
    const auto* around = seen_at(view.mounts, i, step.target);
    if (step.op == MountOp::bind || around == nullptr || around->op != MountOp::bind) continue;
    for (auto at = step.target.parent(); at != around->target; at = at.parent())
      if (!is_mount_point(view, at)) loose.push_back(at);
  }
  return loose;
}

}  // namespace harn::test
