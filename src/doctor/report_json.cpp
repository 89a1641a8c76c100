// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/json.h"
#include "doctor/verdict_names.h"
#include "harn/doctor.h"
#include "plan/json_fields.h"
#include "plan/names.h"
#include "policy/names.h"

namespace harn {
namespace {

base::Value measurement_value(const Measurement& measurement) {
  base::Value out;
  out.set("attack", measurement.attack);
  if (measurement.dimension) out.set("dimension", base::enum_name(*measurement.dimension));
  out.set("verdict", base::enum_name(measurement.verdict));
  out.set("promise", measurement.promise);
  out.set("control", plan::write_text(measurement.control));
  if (!measurement.confined.empty()) out.set("confined", plan::write_text(measurement.confined));
  if (!measurement.twin.empty()) out.set("twin", plan::write_text(measurement.twin));
  if (!measurement.excuse.empty()) out.set("excuse", measurement.excuse);
  return out;
}

}  // namespace

std::string report_to_json(const SandboxReport& report, int indent) {
  base::Value out;
  out.set("format", "harn.doctor.sandbox.v1");
  out.set("holds", report.holds());
  out.set("backend", base::enum_name(report.plan.backend));
  out.set("route", base::enum_name(report.plan.route));
  out.set("profile", base::enum_name(report.plan.profile));
  out.set("policy_digest", report.plan.policy_digest);
  base::Value counts(base::Object{});
  for (const auto& [verdict, name] : base::EnumNames<Verdict>::names) {
    const auto same = [wanted = verdict](const Measurement& m) { return m.verdict == wanted; };
    counts.set(std::string(name), static_cast<std::uint64_t>(std::ranges::count_if(report.measurements, same)));
  }
  out.set("counts", std::move(counts));
  base::Value claims(base::Object{});
  for (std::size_t i = 0; i < dimension_count; ++i) {
    const auto dimension = static_cast<Dimension>(i);
    claims.set(std::string(base::enum_name(dimension)), base::enum_name(report.plan.coverage[dimension].status));
  }
  out.set("claims", std::move(claims));
  base::Array rows;
  for (const auto& measurement : report.measurements) rows.push_back(measurement_value(measurement));
  out.set("attacks", std::move(rows));
  return base::print_json(out, indent);
}

}  // namespace harn
