// SPDX-License-Identifier: Apache-2.0
#include "session/record.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "policy/hosts.h"
#include "policy/ip_address.h"
#include "session/errors.h"
#include "session/names.h"
#include "session/wire.h"

namespace harn::session {
namespace {

using base::Value;

SandboxResult<AbsPath> path_from(const std::string& text, std::string_view name) {
  auto path = AbsPath::parse(text);
  if (!path) return fail_with(Kind::json, fmt::format("{} is no absolute path", name));
  return std::move(*path);
}

Value value_of(const Shown& shown) {
  Value out;
  out.set("target", shown.target.text());
  out.set("source", shown.source.text());
  out.set("access", base::enum_name(shown.access));
  out.set("own", shown.own);
  return out;
}

SandboxResult<Shown> read_shown(const Value& value) {
  Shown out;
  std::string target;
  std::string source;
  ObjectReader reader(value, "mounts");
  reader.text("target", target, true).text("source", source, true).flag("own", out.own);
  HARN_SESSION_TAKE(access, read_access(reader.member("access")));
  HARN_SESSION_PASS(reader.done());
  HARN_SESSION_TAKE(inside, path_from(target, "target"));
  HARN_SESSION_TAKE(outside, path_from(source, "source"));
  out.target = std::move(inside);
  out.source = std::move(outside);
  out.access = access;
  return out;
}

// Of the record only what its relay is told.
Value value_of(const Record& record) {
  Value out;
  const auto texts = [](const auto& list, const auto& print) {
    base::Array all;
    for (const auto& one : list) all.emplace_back(print(one));
    return all;
  };
  const auto port = [](std::uint16_t number) { return std::to_string(number); };
  out.set("deny", texts(record.egress.deny, [](const HostRule& rule) { return policy::text_of(rule); }));
  out.set("block_private", record.egress.block_private);
  out.set("allow_loopback", record.egress.allow_loopback);
  out.set("publish", texts(record.egress.publish, port));
  out.set("ports", texts(record.egress.ports, port));
  out.set("nameservers", texts(record.nameservers, [](const std::string& text) { return text; }));
  out.set("secret", record.relay_secret);
  return out;
}

SandboxResult<void> read_egress(const Value& value, Record& out) {
  ObjectReader reader(value, "egress");
  std::vector<std::string> deny;
  std::vector<std::string> publish;
  std::vector<std::string> ports;
  reader.texts("deny", deny).flag("block_private", out.egress.block_private).flag("allow_loopback", out.egress.allow_loopback);
  reader.texts("publish", publish).texts("ports", ports).texts("nameservers", out.nameservers).text("secret", out.relay_secret);
  for (const auto& text : deny) {
    auto rule = policy::parse_host_rule(text);
    if (!rule) return fail_with(Kind::json, rule.error().message);
    out.egress.deny.push_back(std::move(*rule));
  }
  const auto number = [&](const std::string& text, std::string_view name) {
    const auto port = policy::parse_decimal(text, UINT16_MAX);
    if (!port) reader.wrong(name, "ports");
    return static_cast<std::uint16_t>(port.value_or(0));
  };
  for (const auto& text : publish) out.egress.publish.push_back(number(text, "publish"));
  for (const auto& text : ports) out.egress.ports.insert(number(text, "ports"));
  return reader.done();
}

}  // namespace

SandboxResult<void> check_id(const std::string& id) {
  constexpr std::size_t longest = 64;
  if (base::trim(id).empty()) return fail_with(Kind::invalid_request, "session id cannot be empty");
  const auto usual = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  };
  if (id.size() > longest || id.front() == '.' || id.front() == '-' || !std::ranges::all_of(id, usual))
    return fail_with(Kind::invalid_request, fmt::format("session id {} is not a name", base::quoted(id)),
                     "use up to 64 letters, digits, '.', '_' and '-', the first no '.' or '-'");
  return {};
}

std::string print_record(const Record& record) {
  Value out;
  out.set("version", 1);
  out.set("id", record.id);
  out.set("backend", record.backend);
  out.set("kept", record.kept);
  out.set("ready", record.ready);
  out.set("suspended", record.suspended);
  out.set("created_ms", record.created_ms);
  out.set("boot_id", record.boot_id);
  out.set("keeper", static_cast<std::int64_t>(record.keeper));
  out.set("socket", record.socket.text());
  out.set("root", record.root.text());
  out.set("own_root", record.own_root);
  base::Array mounts;
  for (const auto& shown : record.mounts) mounts.push_back(value_of(shown));
  out.set("mounts", std::move(mounts));
  out.set("labels", session::value_of(record.labels));
  out.set("limits", session::value_of(record.limits));
  out.set("network", session::value_of(record.network));
  out.set("provisioned", session::value_of(record.provisioned));
  out.set("egress", value_of(record));
  out.set("policy", record.policy);
  out.set("plan_digest", record.plan_digest);
  out.set("env_added", session::value_of(record.env_added));
  base::Array proofs;
  for (const auto& proof : record.proofs) proofs.emplace_back(proof);
  out.set("proofs", std::move(proofs));
  out.set("profile", record.profile);
  Value cgroups = base::Object{};
  for (const auto& [controller, directory] : record.cgroups.directories) cgroups.set(controller, directory.text());
  out.set("cgroups", std::move(cgroups));
  out.set("freezer", record.freezer);
  out.set("sleep", record.sleep);
  out.set("overlay", record.overlay);
  out.set("container", record.container);
  out.set("image_id", record.image_id);
  return base::print_json(out) + "\n";
}

SandboxResult<Record> parse_record(std::string_view text) {
  auto parsed = base::parse_json(text);
  if (!parsed) return fail_with(Kind::json, parsed.error().message);
  Record out;
  ObjectReader reader(*parsed);
  std::int64_t version = 0;
  std::int64_t created = 0;
  std::int64_t keeper = -1;
  std::string socket;
  std::string root;
  reader.number("version", version, true).text("id", out.id, true).text("backend", out.backend, true).flag("kept", out.kept);
  reader.flag("ready", out.ready).flag("suspended", out.suspended).number("created_ms", created).text("boot_id", out.boot_id);
  reader.number("keeper", keeper).text("socket", socket, true).text("root", root, true).flag("own_root", out.own_root);
  reader.map("labels", out.labels).text("policy", out.policy).text("plan_digest", out.plan_digest).map("env_added", out.env_added);
  reader.texts("proofs", out.proofs)
      .text("profile", out.profile)
      .text("freezer", out.freezer)
      .text("sleep", out.sleep)
      .flag("overlay", out.overlay)
      .text("container", out.container)
      .text("image_id", out.image_id);
  if (version != 1) reader.wrong("version", "1");
  std::map<std::string, std::string> cgroups;
  reader.map("cgroups", cgroups);
  for (const auto& [controller, directory] : cgroups) {
    HARN_SESSION_TAKE(path, path_from(directory, "cgroups"));
    // Version 2 has one group for all controllers, which has no name of its own.
    out.cgroups.kind = controller.empty() ? CgroupKind::v2 : CgroupKind::v1;
    out.cgroups.directories.emplace(controller, std::move(path));
  }
  if (const auto* limits = reader.member("limits")) {
    HARN_SESSION_TAKE(read, read_limits(*limits));
    out.limits = read;
  }
  for (auto [name, network] : {std::pair{"network", &out.network}, std::pair{"provisioned", &out.provisioned}})
    if (const auto* value = reader.member(name)) {
      HARN_SESSION_TAKE(read, read_network(*value));
      *network = std::move(read);
    }
  if (const auto* egress = reader.member("egress")) HARN_SESSION_PASS(read_egress(*egress, out));
  if (const auto* mounts = reader.member("mounts"); mounts != nullptr && mounts->is(base::ValueKind::array))
    for (const auto& entry : mounts->array()) {
      HARN_SESSION_TAKE(shown, read_shown(entry));
      out.mounts.push_back(std::move(shown));
    }
  HARN_SESSION_PASS(reader.done());
  HARN_SESSION_TAKE(socket_path, path_from(socket, "socket"));
  HARN_SESSION_TAKE(root_path, path_from(root, "root"));
  out.created_ms = static_cast<std::uint64_t>(created);
  out.keeper = static_cast<pid_t>(keeper);
  out.socket = std::move(socket_path);
  out.root = std::move(root_path);
  return out;
}

}  // namespace harn::session
