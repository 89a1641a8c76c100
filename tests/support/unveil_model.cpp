// SPDX-License-Identifier: Apache-2.0
#include "support/unveil_model.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace harn::test {
namespace {

// kern_pledge.c, without the promises only daemons and drivers use.
constexpr std::array<std::string_view, 24> known_promises = {"chown", "cpath", "dns",    "dpath", "error", "exec",      "fattr",  "flock",
                                                             "getpw", "id",    "inet",   "mcast", "proc",  "prot_exec", "ps",     "recvfd",
                                                             "route", "rpath", "sendfd", "stdio", "tty",   "unix",      "unveil", "wpath"};
constexpr std::size_t most_directories = 128;
constexpr std::size_t most_names = 128;

bool known(const std::vector<std::string>& promises) {
  return std::all_of(promises.begin(), promises.end(), [](const std::string& promise) {
    return std::find(known_promises.begin(), known_promises.end(), promise) != known_promises.end();
  });
}

}  // namespace

std::optional<UnveilModel> UnveilModel::load(const PledgeUnveil& plan, const HostFacts& facts) {
  if (!known(plan.promises) || !known(plan.exec_promises)) return std::nullopt;
  // The launcher itself must still be able to execute the command.
  for (const auto* needed : {"stdio", "rpath", "exec"})
    if (std::find(plan.promises.begin(), plan.promises.end(), needed) == plan.promises.end()) return std::nullopt;
  UnveilModel model;
  model.confined_ = !plan.exec_promises.empty();
  model.promises_ = {plan.exec_promises.begin(), plan.exec_promises.end()};
  std::set<AbsPath> directories;
  std::set<AbsPath> names;
  for (const auto& entry : plan.unveils) {
    if (directories.size() >= most_directories || names.size() >= most_names) return std::nullopt;
    if (entry.permissions.find_first_not_of("rwxc") != std::string::npos) return std::nullopt;
    if (facts.kind_of(entry.path) == PathKind::directory) {
      directories.insert(entry.path);
    } else {
      if (facts.kind_of(entry.path) == PathKind::missing && !facts.exists(entry.path.parent())) return std::nullopt;
      directories.insert(entry.path.parent());
      names.insert(entry.path);
    }
    model.entries_[entry.path] = entry.permissions;
  }
  return model;
}

const std::string& UnveilModel::letters(const AbsPath& path) const {
  static const std::string everything = "rwxc";
  static const std::string nothing;
  if (!confined_) return everything;
  for (auto at = path;; at = at.parent()) {
    if (const auto it = entries_.find(at); it != entries_.end()) return it->second;
    if (at.is_root()) return nothing;
  }
}

PathVerdict UnveilModel::at(const AbsPath& path) const {
  const auto has = [&](char letter) { return letters(path).find(letter) != std::string::npos; };
  // Programs open what they write with O_CREAT, which asks for both letters.
  return {.read = has('r') && promised("rpath"),
          .write = has('w') && has('c') && promised("wpath") && promised("cpath"),
          .remove = has('c') && promised("cpath")};
}

bool UnveilModel::executes(const AbsPath& path) const { return letters(path).find('x') != std::string::npos && promised("exec"); }

bool UnveilModel::connects_to(const AbsPath& socket) const { return letters(socket).find('w') != std::string::npos && promised("unix"); }

}  // namespace harn::test
