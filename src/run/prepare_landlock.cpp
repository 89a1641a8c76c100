// SPDX-License-Identifier: Apache-2.0
#include "run/prepare_landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/linux/landlock.h"
#include "run/prepare_view.h"
#include "sys/files.h"
#include "sys/uapi/landlock.h"

namespace harn::run {
namespace {

namespace uapi = sys::uapi;

Error failed(std::string_view what, int error) { return sys::os_failure(what, "Landlock", error, Stage::prepare); }

// The table of rights is in the kernel's order: the row is the bit.
std::uint64_t bits_of(const std::vector<std::string>& names) {
  std::uint64_t bits = 0;
  std::uint64_t bit = 1;
  for (const auto& right : plan::landlock_rights()) {
    if (std::ranges::find(names, right.name) != names.end()) bits |= bit;
    bit <<= 1;
  }
  return bits;
}

std::uint64_t bits_for_files() {
  std::uint64_t bits = 0;
  std::uint64_t bit = 1;
  for (const auto& right : plan::landlock_rights()) {
    if (right.for_files) bits |= bit;
    bit <<= 1;
  }
  return bits;
}

std::uint64_t net_bits(const std::vector<std::string>& names) {
  std::uint64_t bits = 0;
  for (const auto& name : names) bits |= name == "bind_tcp" ? uapi::landlock_net_bind_tcp : uapi::landlock_net_connect_tcp;
  return bits;
}

std::uint64_t scope_bits(const std::vector<std::string>& names) {
  std::uint64_t bits = 0;
  for (const auto& name : names) bits |= name == "signal" ? uapi::landlock_scope_signal : uapi::landlock_scope_abstract_unix_socket;
  return bits;
}

Result<sys::UniqueFd> create(const LandlockPlan& plan) {
  const uapi::LandlockRulesetAttr attributes = {
      .handled_access_fs = bits_of(plan.handled_fs), .handled_access_net = net_bits(plan.handled_net), .scoped = scope_bits(plan.scoped)};
  const std::size_t size = plan.abi >= 6 ? 24 : plan.abi >= 4 ? 16 : 8;
  const long fd = ::syscall(uapi::landlock_create_ruleset_number, &attributes, size, 0);
  if (fd < 0) return fail(failed("landlock_create_ruleset", errno));
  return sys::UniqueFd(static_cast<int>(fd));
}

Status add_path(int ruleset, const LandlockRule& rule, std::uint64_t bits) {
  const sys::UniqueFd fd(::open(rule.path.text().c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR || errno == EACCES) return {};
    return fail(failed(fmt::format("opening {} for", base::quoted(rule.path.text())), errno));
  }
  uapi::LandlockPathBeneathAttr attributes = {.allowed_access = bits, .parent_fd = fd.get()};
  const auto add = [&] { return ::syscall(uapi::landlock_add_rule_number, ruleset, uapi::landlock_rule_path_beneath, &attributes, 0); };
  if (add() == 0) return {};
  // Rights that only directories can have are refused on anything else.
  attributes.allowed_access = bits & bits_for_files();
  if (errno == EINVAL && attributes.allowed_access != bits && (attributes.allowed_access == 0 || add() == 0)) return {};
  return fail(failed(fmt::format("landlock_add_rule for {} with", base::quoted(rule.path.text())), errno));
}

Status add_port(int ruleset, const LandlockPortRule& rule) {
  const uapi::LandlockNetPortAttr attributes = {.allowed_access = net_bits(rule.access), .port = rule.port};
  if (::syscall(uapi::landlock_add_rule_number, ruleset, uapi::landlock_rule_net_port, &attributes, 0) == 0) return {};
  return fail(failed(fmt::format("landlock_add_rule for port {} with", rule.port), errno));
}

}  // namespace

LandlockPlan with_relay(LandlockPlan plan, const RelayReach& relay) {
  if (relay.stream_port != 0 && !plan.handled_net.empty()) plan.ports.push_back({.port = relay.stream_port, .access = {"connect_tcp"}});
  return plan;
}

Result<sys::UniqueFd> make_ruleset(const LandlockPlan& plan, const View* view, ScriptWriter& inner) {
  HARN_TRY(ruleset, create(plan));
  const auto places = view == nullptr ? std::optional<ViewPlaces>() : std::optional<ViewPlaces>(*view);
  for (const auto& rule : plan.rules) {
    const auto bits = bits_of(rule.access);
    if (places && places->made_by_view(rule.path)) {
      inner.add({.op = child::Op::landlock_rule, .number = ruleset.get(), .mask = bits, .text = inner.text(rule.path.text())},
                fmt::format("allow {} with Landlock", base::quoted(rule.path.text())));
      continue;
    }
    HARN_OK(add_path(ruleset.get(), rule, bits));
  }
  for (const auto& port : plan.ports) HARN_OK(add_port(ruleset.get(), port));
  return ruleset;
}

Status add_rules(int ruleset, const std::vector<LandlockRule>& rules) {
  for (const auto& rule : rules) HARN_OK(add_path(ruleset, rule, bits_of(rule.access)));
  return {};
}

}  // namespace harn::run
