// SPDX-License-Identifier: Apache-2.0
#include "run/container/owner.h"

#include <unistd.h>

#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr std::size_t longest = 4096;
constexpr std::size_t start_field = 19;  // counted from the state, which follows the name in brackets
constexpr char between = '/';

std::string line_of(std::string_view path) {
  const auto text = sys::read_file(AbsPath::of(path), longest);
  return text ? std::string(base::trim(*text)) : "-";
}

std::string start_of(std::string_view pid) {
  const auto stat = line_of(fmt::format("/proc/{}/stat", pid));
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {};
  const auto fields = base::split(base::trim(std::string_view(stat).substr(name_end + 1)), ' ');
  return fields.size() > start_field ? std::string(fields[start_field]) : std::string();
}

std::string pid_namespace() {
  auto text = sys::link_text(AbsPath::of("/proc/self/ns/pid"));
  return text ? std::move(*text) : "-";
}

struct Owner {
  std::string machine = {};
  std::string boot = {};
  std::string user = {};
  std::string space = {};
  std::string pid = {};
  std::string start = {};
};

Owner self() {
  const auto pid = std::to_string(::getpid());
  return {.machine = line_of("/etc/machine-id"),
          .boot = line_of("/proc/sys/kernel/random/boot_id"),
          .user = std::to_string(::geteuid()),
          .space = pid_namespace(),
          .pid = pid,
          .start = start_of(pid)};
}

}  // namespace

std::string owner_label() {
  const auto owner = self();
  return fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}", between, owner.machine, owner.boot, owner.user, owner.space, owner.pid,
                     owner.start);
}

bool owner_is_gone(std::string_view label) {
  const auto parts = base::split(label, between);
  if (parts.size() != 6) return false;
  const auto mine = self();
  if (parts[0] != mine.machine || parts[2] != mine.user) return false;
  if (parts[1] != mine.boot) return mine.boot != "-" && parts[1] != "-";
  // Another namespace counts otherwise: its processes cannot be looked up here.
  if (parts[3] != mine.space || parts[4].empty() || parts[4].find_first_not_of("0123456789") != std::string_view::npos) return false;
  const auto start = start_of(parts[4]);
  return start.empty() || start != parts[5];
}

}  // namespace harn::run
