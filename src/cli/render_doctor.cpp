// SPDX-License-Identifier: Apache-2.0
#include "cli/render_doctor.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/render.h"
#include "doctor/verdict_names.h"
#include "plan/names.h"
#include "policy/names.h"

namespace harn::cli {
namespace {

constexpr std::size_t screen_width = 80;
constexpr std::size_t indent = 22;

void add_text(std::string& out, std::string head, std::string_view text) {
  for (const auto& part : wrapped(text, screen_width - indent)) {
    head.resize(std::max(head.size(), indent), ' ');
    (out += head + part) += '\n';
    head.clear();
  }
}

void add_findings(std::string& out, const HostPicture& picture) {
  out += "Mechanisms, each tried just now\n";
  for (const auto& finding : picture.findings) {
    const auto colour = finding.works ? Colour::green : Colour::yellow;
    out += fmt::format("  {} {}\n", coloured(finding.works ? "works" : "   no", colour, picture.colour), finding.mechanism);
    if (!finding.how.empty()) add_text(out, "", finding.how);
    if (!finding.why_not.empty()) add_text(out, "        why not", finding.why_not);
    if (!finding.remedy.empty()) add_text(out, "        remedy", finding.remedy);
  }
}

void add_gaps(std::string& out, const ProfileOutlook& outlook) {
  if (!outlook.plan || outlook.plan->coverage.gaps.empty()) return;
  out += "Gaps\n";
  for (const auto& gap : outlook.plan->coverage.gaps) {
    add_text(out, fmt::format("    {}", base::enum_name(gap.dimension)), fmt::format("{}: {}", gap.code, gap.detail));
    if (!gap.remedy.empty()) add_text(out, "        remedy", gap.remedy);
  }
}

void add_profile(std::string& out, const ProfileOutlook& outlook) {
  const auto head = fmt::format("  {}", base::enum_name(outlook.profile));
  if (!outlook.plan) return add_text(out, head, "cannot be planned: " + outlook.problem);
  const auto& plan = *outlook.plan;
  if (plan.refusal) add_text(out, head, "refused: " + plan.refusal->message);
  else add_text(out, head, fmt::format("runs with backend {}", base::enum_name(plan.backend)));
  static constexpr std::pair<Enforcement, std::string_view> rows[] = {
      {Enforcement::enforced, "    enforced"}, {Enforcement::degraded, "    with gaps"}, {Enforcement::not_enforced, "    not enforced"}};
  for (const auto& [status, label] : rows)
    if (const auto names = names_with(plan.coverage, status); !names.empty())
      add_text(out, std::string(label), fmt::format("{}", fmt::join(names, " ")));
}

base::Value finding_value(const Finding& finding) {
  base::Value out;
  out.set("mechanism", finding.mechanism);
  out.set("works", finding.works);
  if (!finding.how.empty()) out.set("how", finding.how);
  if (!finding.why_not.empty()) out.set("why_not", finding.why_not);
  if (!finding.remedy.empty()) out.set("remedy", finding.remedy);
  return out;
}

base::Value outlook_value(const ProfileOutlook& outlook) {
  base::Value out;
  if (!outlook.plan) {
    out.set("problem", outlook.problem);
    return out;
  }
  const auto& plan = *outlook.plan;
  out.set("runs", plan.route != Route::refused);
  out.set("backend", base::enum_name(plan.backend));
  out.set("route", base::enum_name(plan.route));
  if (plan.refusal) out.set("refusal", plan.refusal->message);
  base::Value dimensions(base::Object{});
  for (std::size_t i = 0; i < dimension_count; ++i)
    dimensions.set(std::string(base::enum_name(static_cast<Dimension>(i))), base::enum_name(plan.coverage.dimensions[i].status));
  out.set("dimensions", std::move(dimensions));
  base::Array gaps;
  for (const auto& gap : plan.coverage.gaps) {
    base::Value row;
    row.set("dimension", base::enum_name(gap.dimension));
    row.set("code", gap.code);
    row.set("detail", gap.detail);
    if (!gap.remedy.empty()) row.set("remedy", gap.remedy);
    gaps.push_back(std::move(row));
  }
  out.set("gaps", std::move(gaps));
  return out;
}

Colour colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::conforms: return Colour::green;
    case Verdict::not_measured:
    case Verdict::not_enforced: return Colour::yellow;
    default: return Colour::red;
  }
}

}  // namespace

std::string picture_of(const HostPicture& picture) {
  const auto& facts = picture.facts;
  const auto kernel = facts.platform == Platform::linux
                          ? fmt::format("Linux {} {}, uid {}", facts.linux.kernel, facts.linux.arch, facts.uid)
                          : std::string(base::enum_name(facts.platform));
  auto out = fmt::format("{}: {}, {}\n", coloured(facts.name, Colour::bold, picture.colour), facts.os_version, kernel);
  add_findings(out, picture);
  out += "What your policy gets here\n";
  if (!picture.problem.empty()) add_text(out, "  no policy", picture.problem);
  for (const auto& outlook : picture.profiles) add_profile(out, outlook);
  if (!picture.profiles.empty()) add_gaps(out, picture.profiles.back());
  out += fmt::format("Active: backend {}, profile {}\n", sandbox_active_backend(facts),
                     picture.active_profile.empty() ? "none" : picture.active_profile);
  return out;
}

std::string json_of(const HostPicture& picture) {
  const auto& facts = picture.facts;
  base::Value out;
  out.set("format", "harn.doctor.v1");
  out.set("host", facts.name);
  out.set("os_version", facts.os_version);
  out.set("kernel", facts.linux.kernel);
  out.set("arch", facts.linux.arch);
  out.set("uid", static_cast<std::uint64_t>(facts.uid));
  out.set("active_backend", sandbox_active_backend(facts));
  out.set("backend_available", sandbox_backend_available(facts));
  if (!picture.active_profile.empty()) out.set("active_profile", picture.active_profile);
  if (!picture.problem.empty()) out.set("problem", picture.problem);
  base::Array findings;
  for (const auto& finding : picture.findings) findings.push_back(finding_value(finding));
  out.set("mechanisms", std::move(findings));
  base::Value profiles(base::Object{});
  for (const auto& outlook : picture.profiles) profiles.set(std::string(base::enum_name(outlook.profile)), outlook_value(outlook));
  out.set("profiles", std::move(profiles));
  return base::print_json(out, 2) + "\n";
}

std::string picture_of(const SandboxReport& report, bool colour) {
  auto out = fmt::format("{}: backend {}, profile {}, {}\n", coloured("Attacks on the sandbox", Colour::bold, colour),
                         base::enum_name(report.plan.backend), base::enum_name(report.plan.profile), report.plan.host);
  for (const auto& m : report.measurements) {
    out += fmt::format("  {:<17} {}: {}\n", m.attack, coloured(base::enum_name(m.verdict), colour_of(m.verdict), colour), m.promise);
    if (m.verdict == Verdict::conforms) continue;
    if (!m.excuse.empty()) add_text(out, "", m.excuse);
    else add_text(out, "", fmt::format("outside: {}; inside: {}; {}", m.control, m.confined.empty() ? "not tried" : m.confined, m.twin));
  }
  std::vector<std::string> counts;
  for (const auto& [verdict, name] : base::EnumNames<Verdict>::names) {
    const auto same = [wanted = verdict](const Measurement& m) { return m.verdict == wanted; };
    if (const auto count = std::ranges::count_if(report.measurements, same); count > 0) counts.push_back(fmt::format("{} {}", count, name));
  }
  return out + fmt::format("{}: {}\n", report.holds() ? "The boundary holds" : "The boundary does NOT hold", base::join(counts, ", "));
}

}  // namespace harn::cli
