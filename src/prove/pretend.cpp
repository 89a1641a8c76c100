// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "harn/prove.h"

namespace harn {
namespace {

struct Taking {
  std::string_view name = {};
  void (*take)(HostFacts& facts) = nullptr;
};

void take_tool(HostFacts& facts, const std::string& name) {
  const auto found = facts.tools.find(name);
  if (found == facts.tools.end()) return;
  found->second.works = false;
  found->second.why_not = "HARN_PRETEND takes it away";
}

constexpr Taking table[] = {
    {"landlock", [](HostFacts& facts) { facts.linux.landlock_abi = 0; }},
    {"userns",
     [](HostFacts& facts) {
       facts.linux.user_namespaces = facts.linux.pid_namespaces = facts.linux.network_namespaces = false;
       facts.linux.why_no_user_namespaces = "HARN_PRETEND takes them away";
     }},
    {"netns", [](HostFacts& facts) { facts.linux.network_namespaces = false; }},
    {"seccomp", [](HostFacts& facts) { facts.linux.seccomp = facts.linux.seccomp_notify = false; }},
    {"notify", [](HostFacts& facts) { facts.linux.seccomp_notify = false; }},
    {"getfd", [](HostFacts& facts) { facts.linux.pidfd_getfd = false; }},
    {"cgroup", [](HostFacts& facts) { facts.linux.cgroup = CgroupKind::none; }},
    {"bubblewrap", [](HostFacts& facts) { take_tool(facts, "bubblewrap"); }},
    {"firejail", [](HostFacts& facts) { take_tool(facts, "firejail"); }},
    {"sandbox-exec", [](HostFacts& facts) { take_tool(facts, "sandbox-exec"); }},
    {"unveil", [](HostFacts& facts) { take_tool(facts, "unveil"); }},
    {"pledge", [](HostFacts& facts) { take_tool(facts, "pledge"); }},
};

std::unexpected<Error> wrong(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::invalid_policy, .stage = Stage::load, .message = std::move(message), .hint = std::move(hint)});
}

Status take(HostFacts& facts, std::string_view entry) {
  const auto equals = entry.find('=');
  const auto name = entry.substr(0, equals);
  const auto value = equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
  const auto row = std::ranges::find(table, name, &Taking::name);
  if (row == std::end(table)) {
    std::vector<std::string_view> names;
    for (const auto& known : table) names.push_back(known.name);
    const auto near = base::nearest_name(name, names);
    return wrong(fmt::format("HARN_PRETEND names {}", base::quoted(name)),
                 near.empty() ? fmt::format("use {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near));
  }
  if (value == "no") {
    row->take(facts);
    return {};
  }
  int abi = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), abi);
  const bool number = error == std::errc() && end == value.data() + value.size() && abi >= 0 && abi <= 99;
  if (name != "landlock" || !number)
    return wrong(fmt::format("HARN_PRETEND has {}", base::quoted(entry)),
                 name == "landlock" ? "write landlock=no, or landlock=N for an ABI" : fmt::format("write {}=no: it only takes away", name));
  facts.linux.landlock_abi = std::min(facts.linux.landlock_abi, abi);
  return {};
}

}  // namespace

Status pretend(HostFacts& facts, std::string_view text) {
  if (text.empty()) return {};
  for (const auto entry : base::split(text, ',')) HARN_OK(take(facts, entry));
  facts.name += fmt::format(", pretending {}", text);
  return {};
}

}  // namespace harn
