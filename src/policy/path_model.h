// SPDX-License-Identifier: Apache-2.0
// The host-independent meaning of a policy's path lists, and the canonical lists of a meaning.
// PathRules adds what a host contributes (presets, credentials, git); the meet works on this alone.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harn/policy.h"

namespace harn::policy {

// What the lists say about a path, from least to most. `unruled` means no list mentions it: presets
// may still open it, while they never open what is denied.
enum class Ruled : std::uint8_t {
  deny,
  unruled,
  read,
  write
};

// Harn's own file operations never exceed what processes may do, so file <= process always holds.
struct PathValue {
  Access file = Access::none;
  Ruled process = Ruled::unruled;

  bool operator==(const PathValue&) const = default;
};
PathValue meet(PathValue a, PathValue b);

// Refers to the paths it is given: they must outlive it.
class PathModel {
 public:
  PathModel() = default;
  explicit PathModel(const Policy& policy);
  explicit PathModel(Policy&&) = delete;

  void add_workspace(const AbsPath& path);
  void add_read_only(const AbsPath& path);
  void add_process_read(const AbsPath& path);
  void add_process_write(const AbsPath& path);
  void add_deny(const AbsPath& path);
  void add_unprotect(const AbsPath& path);

  PathValue value(std::string_view path) const;

  // The deciding list of the process value; Origin::nothing when unruled.
  Origin origin(std::string_view path) const;

  // Inside a protected name of some writable root and not lifted by unprotect.
  bool is_protected(std::string_view path) const;
  bool is_unprotected(std::string_view path) const;
  bool is_writable_root(std::string_view path) const;
  bool has_unprotect() const { return !unprotect_.empty(); }

  // Each sorted.
  std::vector<AbsPath> ruled_paths() const;  // every path some list names
  std::vector<AbsPath> writable_roots() const;
  std::vector<AbsPath> unprotected_paths() const;

  // Every path some list names, in no order.
  template <class Visit>
  void for_each_path(Visit visit) const {
    for (const auto& [text, lists] : rules_) visit(*lists.path);
    for (const auto& [text, path] : unprotect_) visit(*path);
  }

 private:
  struct Lists {
    const AbsPath* path = nullptr;
    bool workspace = false;
    bool read_only = false;
    bool process_read = false;
    bool process_write = false;
    bool deny = false;
  };

  static Ruled process_ruling(const Lists& lists);
  Lists& at(const AbsPath& path);
  const Lists* find(std::string_view path) const;

  std::unordered_map<std::string_view, Lists> rules_ = {};
  std::unordered_map<std::string_view, const AbsPath*> unprotect_ = {};
  bool has_writable_ = false;
};

// The next path up as text; empty above the root.
std::string_view parent_text(std::string_view path);

// The path lists of a policy, each in canonical form.
struct PathLists {
  std::vector<AbsPath> workspace = {};
  std::vector<AbsPath> read_only = {};
  std::vector<AbsPath> process_read = {};
  std::vector<AbsPath> process_write = {};
  std::vector<AbsPath> deny = {};
  std::vector<AbsPath> unprotect = {};
};

// The lists whose meaning is, at every path, the lesser of the two models' meanings. With a == b it
// is the canonical form.
PathLists meet_paths(const PathModel& a, const PathModel& b);

// All but the workspace, whose unset is the project root. Lists that grant nothing are left unset.
void put_path_lists(PathLists lists, Policy& policy);

}  // namespace harn::policy
