// SPDX-License-Identifier: Apache-2.0
// A plan in the words of its platform: the Seatbelt profile, the wrapper's argv one word per line,
// the unveil list, the ACL and job table, or a listing of what Linux will be told. These are the
// golden files reviewers read as diffs, so the text is complete, aligned and stable.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "plan/names.h"
#include "plan/native_listing.h"

namespace harn {
namespace plan {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// ---- linux -----------------------------------------------------------------------------------------

std::string mount_place(const MountStep& step) {
  const auto target = plain_word(step.target.text());
  if (step.op == MountOp::symlink) return fmt::format("{} -> {}", target, plain_word(step.source));
  if (step.op == MountOp::overlay) return fmt::format("{} changes to {}", target, plain_word(step.layer));
  const bool moved = !step.source.empty() && step.source != step.target.text();
  return moved ? fmt::format("{} from {}", target, plain_word(step.source)) : target;
}

void view_section(Listing& listing, const View& view) {
  listing.section("view");
  listing.line(2, fmt::format("namespaces {}{}", base::join(view.namespaces, " "), view.loopback_up ? ", loopback up" : ""));
  Rows rows;
  for (const auto& step : view.mounts)
    rows.push_back({std::string(base::enum_name(step.op)), step.file ? "file" : "", mount_place(step), step.note});
  for (const auto& [path, text] : view.files) rows.push_back({"text", "file", plain_word(path), "names"});
  listing.table(2, rows);
}

// Access lists repeat; each distinct one gets a letter ("aa" after "z") so that rules stay one line.
class AccessLegend {
 public:
  explicit AccessLegend(const LandlockPlan& plan) {
    for (const auto& rule : plan.rules) letter_.try_emplace(rule.access);
    std::size_t next = 0;
    for (auto& [access, letter] : letter_) letter = letter_of(next++);
  }
  const std::string& operator[](const std::vector<std::string>& access) const { return letter_.at(access); }
  void print(Listing& listing) const {
    for (const auto& [access, letter] : letter_)
      listing.words(2, access.empty() ? std::vector<std::string>{"nothing"} : access, letter + " = ");
  }

 private:
  static std::string letter_of(std::size_t index) {
    std::string letter(1, static_cast<char>('a' + index % 26));
    return index < 26 ? letter : letter_of(index / 26 - 1) + letter;
  }
  std::map<std::vector<std::string>, std::string> letter_ = {};
};

void landlock_section(Listing& listing, const LandlockPlan& plan) {
  listing.section(fmt::format("landlock abi {}", plan.abi));
  listing.words(2, plan.handled_fs, "handled_fs  ");
  listing.words(2, plan.handled_net, "handled_net ");
  listing.words(2, plan.scoped, "scoped      ");
  const AccessLegend legend(plan);
  legend.print(listing);
  Rows rows;
  for (const auto& rule : plan.rules) rows.push_back({legend[rule.access], plain_word(rule.path.text()), rule.note});
  listing.table(2, rows);
  for (const auto& port : plan.ports) listing.line(2, fmt::format("port {} {}", port.port, base::join(port.access, " ")));
}

void supervisor_section(Listing& listing, const SupervisorPlan& supervisor) {
  std::string title = supervisor.decides ? "supervisor" : "supervisor, decides nothing";
  if (supervisor.reads) title += ", reads too";
  if (supervisor.explains) title += ", explains";
  listing.section(title);
  Rows rows;
  for (const auto& rule : supervisor.rules)
    rows.push_back({std::string(base::enum_name(rule.access)), plain_word(rule.path.text()), rule.device ? "device" : ""});
  for (const auto& socket : supervisor.sockets) rows.push_back({"connect", plain_word(socket.text()), ""});
  listing.table(2, rows);
}

std::string text_of(const Plan& plan, const LinuxConfinement& confinement) {
  Listing listing;
  head_section(listing, plan);
  std::vector<std::string> privileges;
  if (confinement.no_new_privileges) privileges.push_back("no_new_privileges");
  if (confinement.drop_capabilities) privileges.push_back("drop_capabilities");
  listing.row("privileges", base::join(privileges, " "));
  if (confinement.view) view_section(listing, *confinement.view);
  if (confinement.landlock) landlock_section(listing, *confinement.landlock);
  if (confinement.syscalls) syscalls_section(listing, *confinement.syscalls);
  if (confinement.supervisor) supervisor_section(listing, *confinement.supervisor);
  limits_section(listing, plan.limits);
  egress_section(listing, plan);
  environment_section(listing, plan.env);
  return std::move(listing).text();
}

// ---- wrappers --------------------------------------------------------------------------------------

std::string text_of(const Plan& plan, const Wrapper& wrapper) {
  if (!wrapper.profile.empty()) return wrapper.profile.ends_with('\n') ? wrapper.profile : wrapper.profile + '\n';
  Listing listing;
  for (const auto& word : wrapper.argv) listing.line(0, plain_word(word));
  for (const auto& file : wrapper.files) {
    listing.section(fmt::format("file {}", file.name));
    if (!file.text.empty()) listing.line(2, fmt::format("{} bytes, sha256 {}", file.text.size(), base::sha256_hex(file.text)));
  }
  if (wrapper.syscalls) syscalls_section(listing, *wrapper.syscalls);
  limits_section(listing, plan.limits);
  egress_section(listing, plan);
  return std::move(listing).text();
}

// ---- windows ---------------------------------------------------------------------------------------

std::string windows_path(const AbsPath& path) {
  std::string text = plain_word(path.text());
  std::ranges::replace(text, '/', '\\');
  return text;
}

// Less inside more is made by stopping what the path would inherit, then granting the rest.
std::string acl_rights(const AclGrant& grant) {
  if (grant.stops_inheritance) return "inherited";
  return grant.modify ? "modify" : "read_execute";
}

std::string text_of(const Plan& plan, const AppContainer& container) {
  Listing listing;
  head_section(listing, plan);
  listing.row("container", container.name);
  listing.row("capabilities", container.capability_sids.empty() ? "none" : base::join(container.capability_sids, " "));
  listing.row("job flags", base::join(container.job_flags, " "));
  listing.row("ui limits", base::join(container.ui_limits, " "));
  listing.section("acl");
  Rows rows;
  for (const auto& grant : container.grants)
    rows.push_back({grant.stops_inheritance ? "stop" : "grant", acl_rights(grant), grant.inherit ? "tree" : "file",
                    windows_path(grant.path), grant.note});
  listing.table(2, rows);
  if (!container.job_limits.empty()) listing.section("job limits");
  rows.clear();
  for (const auto& [name, value] : container.job_limits) rows.push_back({name, std::to_string(value)});
  listing.table(2, rows);
  if (!container.environment.empty()) listing.section("container environment");
  rows.clear();
  for (const auto& [name, value] : container.environment) rows.push_back({name, plain_word(value)});
  listing.table(2, rows);
  limits_section(listing, plan.limits);
  environment_section(listing, plan.env);
  return std::move(listing).text();
}

// ---- openbsd ---------------------------------------------------------------------------------------

std::string text_of(const Plan& plan, const PledgeUnveil& confinement) {
  Listing listing;
  head_section(listing, plan);
  listing.section("unveil");
  Rows rows;
  for (const auto& unveil : confinement.unveils)
    rows.push_back({unveil.permissions.empty() ? "-" : unveil.permissions, plain_word(unveil.path.text())});
  listing.table(2, rows);
  listing.section("pledge");
  listing.table(2, {{"promises", base::join(confinement.promises, " ")}, {"execpromises", base::join(confinement.exec_promises, " ")}});
  limits_section(listing, plan.limits);
  egress_section(listing, plan);
  environment_section(listing, plan.env);
  return std::move(listing).text();
}

// ---- nothing -----------------------------------------------------------------------------------------

std::string text_of(const Plan& plan, const NoConfinement&) {
  Listing listing;
  head_section(listing, plan);
  listing.row("confinement", "none");
  limits_section(listing, plan.limits);
  environment_section(listing, plan.env);
  return std::move(listing).text();
}

std::string_view suffix_of(const NoConfinement&) { return "txt"; }
std::string_view suffix_of(const LinuxConfinement&) { return "linux"; }
std::string_view suffix_of(const Wrapper& wrapper) { return wrapper.profile.empty() ? "argv" : "sb"; }
std::string_view suffix_of(const AppContainer&) { return "acl"; }
std::string_view suffix_of(const PledgeUnveil&) { return "unveil"; }

}  // namespace
}  // namespace plan

std::string native_text(const Plan& plan) {
  return std::visit([&](const auto& confinement) { return plan::text_of(plan, confinement); }, plan.confinement);
}

std::string native_suffix(const Plan& plan) {
  return std::visit([](const auto& confinement) { return std::string(plan::suffix_of(confinement)); }, plan.confinement);
}

}  // namespace harn
