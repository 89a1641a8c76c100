// SPDX-License-Identifier: Apache-2.0
#include "run/prepare_view.h"

#include <linux/mount.h>
#include <sched.h>

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "run/late_attributes.h"
#include "sys/files.h"

namespace harn::run {
namespace {

using child::Op;

constexpr std::uint64_t tame = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
// Read-only stops nobody from writing to a device, but its owner from changing whose it is on the host.
constexpr std::uint64_t device = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY;
constexpr std::uint64_t sealed = MOUNT_ATTR_RDONLY;
constexpr std::uint64_t closed = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;

class ViewWriter {
 public:
  ViewWriter(ScriptWriter& writer, const View& view, const std::string& terminal) : writer_(writer), view_(view), terminal_(terminal) {}

  void run() {
    const auto is = [](MountOp op) { return [op](const MountStep& step) { return step.op == op; }; };
    hides_ = std::ranges::any_of(view_.mounts, is(MountOp::hide)) || !view_.files.empty();
    const auto proc = std::ranges::find_if(view_.mounts, is(MountOp::proc));
    const auto root_step = std::ranges::find_if(view_.mounts, [](const MountStep& step) { return step.target.is_root(); });
    // What hides lies beneath /proc where that will cover it, else on a mount that goes with the old root.
    if (proc != view_.mounts.end() && root_step != view_.mounts.end() && root_step->op == MountOp::tmpfs) covered_ = proc->target;
    if (hides_ && !covered_) writer_.add({.op = Op::make_hidden}, "make the unreadable places");
    for (const auto& step : view_.mounts) step.target.is_root() ? root(step) : place(step);
    for (const auto& [path, text] : view_.files) show_text(AbsPath::of(path), text);
    for (const auto& path : to_seal_) seal(path);
    writer_.add({.op = Op::enter_root}, "enter the view");
    if (view_.loopback_up) writer_.add({.op = Op::raise_loopback}, "raise the loopback interface");
  }

 private:
  // Beneath the new root.
  const char* inside(const AbsPath& path) { return writer_.text(path.is_root() ? "." : path.text().substr(1)); }

  // A mount at `target` that shows `source`, or a part of our own where that is empty; its attributes are in the step's mask.
  void show(child::Step step, const AbsPath& target, const std::string& source, std::string label) {
    const auto attributes = step.mask;
    if (late_.needed()) step.mask = 0;
    writer_.add(step, std::move(label));
    if (late_.needed()) late_.add(writer_, target, source, attributes);
  }

  void seal(const AbsPath& path) {
    if (late_.needed()) late_.add(writer_, path, "", closed);
    else writer_.add({.op = Op::seal_mount, .mask = closed, .text = inside(path)}, "seal " + path.text());
  }

  void root(const MountStep& step) {
    if (step.op == MountOp::tmpfs) {
      writer_.add({.op = Op::mount_root, .mask = tame, .text = "mode=0755"}, "mount a fresh root");
      ours_.insert("/");
      to_seal_.push_back(step.target);
      if (!hides_ || !covered_) return;
      way_to(*covered_);
      writer_.add({.op = Op::make_hidden, .text = inside(*covered_)}, "make the unreadable places");
      return;
    }
    shown_.insert("/");
    const auto attributes = step.op == MountOp::bind ? tame : tame | MOUNT_ATTR_RDONLY;
    show({.op = Op::bind_root, .mask = attributes, .text = writer_.text(step.source)}, step.target, step.source, "bind the root");
  }

  void place(const MountStep& step) {
    switch (step.op) {
      case MountOp::tmpfs: return fresh(step);
      case MountOp::bind:
      case MountOp::bind_read: return bind(step);
      case MountOp::hide: return hide(step);
      case MountOp::proc: return proc(step);
      case MountOp::dev: return devices(step);
      case MountOp::symlink: return link(step.target, step.source);
      case MountOp::directory: return directory(step.target);
      case MountOp::overlay: return overlay(step);
    }
  }

  // Directories of our own leading to `path`. What a bind shows exists already, and we never make
  // anything in the host's directories.
  void way_to(const AbsPath& path) {
    if (path.is_root() || ours_.contains(path.text()) || shown_.contains(path.text())) return;
    way_to(path.parent());
    if (shown_.contains(path.parent().text())) {
      shown_.insert(path.text());
      return;
    }
    writer_.add({.op = Op::make_directory, .mask = 0755, .text = inside(path)}, fmt::format("make {}", path.text()));
    ours_.insert(path.text());
  }

  void directory(const AbsPath& path) { way_to(path); }

  void mount_point(const MountStep& step) {
    way_to(step.target.parent());
    if (shown_.contains(step.target.parent().text())) return;
    if (!step.file) return way_to(step.target);
    writer_.add({.op = Op::make_file, .text = inside(step.target)}, fmt::format("make {}", step.target.text()));
  }

  void fresh(const MountStep& step) {
    mount_point(step);
    const bool shared = step.target.text() == "/tmp" || step.target.text() == "/var/tmp" || step.target.text() == "/dev/shm";
    const auto label = fmt::format("mount a private {}", step.target.text());
    if (ours_.contains(step.target.text()))
      show({.op = Op::mount_own, .mask = tame, .more = shared ? 01777u : 0u, .text = inside(step.target)}, step.target, "", label);
    else
      writer_.add({.op = Op::mount_fresh, .mask = tame, .text = inside(step.target), .other = shared ? "mode=1777" : "mode=0755"}, label);
    shown_.erase(step.target.text());
    ours_.insert(step.target.text());
  }

  void bind(const MountStep& step) {
    mount_point(step);
    auto attributes = step.op == MountOp::bind ? tame : tame | MOUNT_ATTR_RDONLY;
    if (step.file && sys::target_type_of(step.target) == sys::FileType::device) attributes = device;
    show({.op = bind_op(step.target), .mask = attributes, .text = inside(step.target), .other = writer_.text(step.source)}, step.target,
         step.source, fmt::format("show {}", base::quoted(step.source)));
    shown_.insert(step.target.text());
    ours_.erase(step.target.text());
  }

  void overlay(const MountStep& step) {
    mount_point(step);
    writer_.add({.op = Op::mount_overlay,
                 .mask = tame,
                 .text = inside(step.target),
                 .other = writer_.text(step.source),
                 .pointer = writer_.text(step.layer)},
                fmt::format("lay a layer over {}", base::quoted(step.source)));
    shown_.insert(step.target.text());
    ours_.erase(step.target.text());
  }

  Op bind_op(const AbsPath& target) const { return ours_.contains(target.parent().text()) ? Op::bind_in_own : Op::bind; }

  void show_device(const std::string& source, const AbsPath& target) {
    mount_point({.target = target, .file = true});
    show({.op = bind_op(target), .mask = device, .text = inside(target), .other = writer_.text(source)}, target, source,
         fmt::format("show {}", base::quoted(source)));
    shown_.insert(target.text());
  }

  void hide(const MountStep& step) {
    mount_point(step);
    show({.op = step.file ? Op::hide_file : Op::hide_directory, .mask = closed, .text = inside(step.target)}, step.target, "",
         fmt::format("hide {}", base::quoted(step.target.text())));
    ours_.erase(step.target.text());
    shown_.insert(step.target.text());
  }

  // In place of what the host has there. Where it has nothing, nothing is made.
  void show_text(const AbsPath& path, const std::string& text) {
    if (sys::type_of(path) == sys::FileType::missing) return;
    for (auto at = path.parent(); !shown_.contains(at.text()); at = at.parent())
      if (at.is_root() || ours_.contains(at.text())) return;
    show({.op = Op::show_text, .number = texts_++, .mask = closed, .text = inside(path), .other = writer_.text(text)}, path, "",
         fmt::format("show an own {}", path.text()));
  }

  // Read-only as a whole: uid 0 keeps its right to /proc/sys in a namespace of its own otherwise.
  void proc(const MountStep& step) {
    mount_point(step);
    writer_.add({.op = Op::mount_proc, .mask = sealed | tame | MOUNT_ATTR_NOEXEC, .text = inside(step.target)}, "mount an own /proc");
    shown_.insert(step.target.text());
  }

  void link(const AbsPath& path, const std::string& target) {
    way_to(path.parent());
    if (shown_.contains(path.parent().text())) return;
    writer_.add({.op = Op::make_link, .text = writer_.text(target), .other = inside(path)}, fmt::format("make the link {}", path.text()));
    shown_.insert(path.text());
  }

  void devices(const MountStep& step) {
    const auto& dev = step.target;
    mount_point(step);
    // A part of the root, sealed with it, unless the host's own /dev stands there.
    if (!ours_.contains(dev.text())) {
      writer_.add({.op = Op::mount_fresh, .mask = tame, .text = inside(dev), .other = "mode=0755"}, "mount an own /dev");
      shown_.erase(dev.text());
      ours_.insert(dev.text());
      to_seal_.push_back(dev);
    }
    for (const auto* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
      const auto path = dev.join(name);
      if (sys::target_type_of(path) != sys::FileType::device) continue;
      show_device(path.text(), path);
    }
    if (!terminal_.empty()) show_device(terminal_, dev.join("console"));
    way_to(dev.join("pts"));
    writer_.add({.op = Op::mount_terminals, .mask = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, .text = inside(dev.join("pts"))},
                "mount own terminals");
    fresh({.op = MountOp::tmpfs, .target = dev.join("shm")});
    link(dev.join("ptmx"), "pts/ptmx");
    link(dev.join("fd"), "/proc/self/fd");
    link(dev.join("stdin"), "/proc/self/fd/0");
    link(dev.join("stdout"), "/proc/self/fd/1");
    link(dev.join("stderr"), "/proc/self/fd/2");
  }

  ScriptWriter& writer_;
  const View& view_;
  const std::string& terminal_;
  std::set<std::string, std::less<>> ours_ = {};   // directories on file systems of our own
  std::set<std::string, std::less<>> shown_ = {};  // the host's, or closed: nothing is made inside
  std::vector<AbsPath> to_seal_ = {};
  LateAttributes late_ = {};
  bool hides_ = false;
  int texts_ = 0;
  std::optional<AbsPath> covered_ = {};  // our own directory that will be covered: what hides is made there
};

}  // namespace

Result<std::uint64_t> namespace_flags(const View& view) {
  static constexpr std::pair<std::string_view, std::uint64_t> known[] = {
      {"user", CLONE_NEWUSER}, {"mount", CLONE_NEWNS}, {"pid", CLONE_NEWPID},      {"ipc", CLONE_NEWIPC},
      {"uts", CLONE_NEWUTS},   {"net", CLONE_NEWNET},  {"cgroup", CLONE_NEWCGROUP}};
  std::uint64_t flags = 0;
  for (const auto& name : view.namespaces) {
    const auto row = std::ranges::find(known, name, [](const auto& entry) { return entry.first; });
    if (row == std::end(known))
      return fail(Error{.code = ErrorCode::not_supported,
                        .stage = Stage::prepare,
                        .message = fmt::format("the plan asks for the unknown namespace {}", base::quoted(name)),
                        .hint = "make the plan again with this version of harn"});
    flags |= row->second;
  }
  return flags;
}

void write_identity(ScriptWriter& writer, std::uint32_t uid, std::uint32_t gid) {
  const auto write = [&](const char* file, const std::string& text) {
    writer.add({.op = Op::write_file, .text = file, .other = writer.text(text)}, fmt::format("write {}", file));
  };
  write("/proc/self/setgroups", "deny");
  write("/proc/self/uid_map", fmt::format("{0} {0} 1", uid));
  write("/proc/self/gid_map", fmt::format("{0} {0} 1", gid));
  // A namespace made inside could take the mounts of this one apart. The syscall filter refuses it too.
  write("/proc/sys/user/max_user_namespaces", "0");
}

void write_view(ScriptWriter& writer, const View& view, const std::string& terminal) { ViewWriter(writer, view, terminal).run(); }

ViewPlaces::ViewPlaces(const View& view) {
  for (const auto& step : view.mounts) steps_.insert_or_assign(step.target.text(), step.op);
}

bool ViewPlaces::made_by_view(const AbsPath& path) const {
  for (auto at = path;; at = at.parent()) {
    if (const auto step = steps_.find(at.text()); step != steps_.end())
      return step->second != MountOp::bind && step->second != MountOp::bind_read;
    if (at.is_root()) return false;
  }
}

}  // namespace harn::run
