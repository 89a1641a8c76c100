// SPDX-License-Identifier: Apache-2.0
// Plan to JSON and back, and the digest that receipts, audit and tape carry. The members stand in
// plan_fields.h; this file only frames them.
#include <fmt/format.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "plan/plan_fields.h"

namespace harn {
namespace plan {

using Dimensions = std::array<DimensionCoverage, dimension_count>;

base::Value Json<Dimensions>::write(const Dimensions& dimensions) {
  base::Value out;
  for (const auto& [dimension, name] : base::EnumNames<Dimension>::names)
    out.set(std::string(name), Json<DimensionCoverage>::write(dimensions[static_cast<std::size_t>(dimension)]));
  return out;
}

Status Json<Dimensions>::read(const base::Value& value, Dimensions& out) {
  if (!value.is(base::ValueKind::object)) return wrong_kind(value, "an object");
  HARN_OK(check_names(value, words_of<Dimension>()));
  for (const auto& member : value.object()) {
    const auto dimension = static_cast<std::size_t>(*base::enum_value<Dimension>(member.name));
    HARN_OK(beneath(Json<DimensionCoverage>::read(member.value, out[dimension]), member.name));
  }
  return {};
}

namespace {

// A reader of another version fails by name instead of by a strange member.
constexpr std::string_view plan_format = "harn.plan.v1";

base::Value value_of(const Plan& plan) {
  base::Value out;
  out.set("format", plan_format);
  write_members(plan, out);
  return out;
}

Status check_format(const base::Value& value) {
  const auto* format = value.find("format");
  if (format == nullptr) return broken("the member 'format' is missing", fmt::format("a plan begins with \"format\": \"{}\"", plan_format));
  if (*format == base::Value(plan_format)) return {};
  const auto text = format->is(base::ValueKind::string) ? base::quoted(format->string()) : std::string(base::kind_name(format->kind()));
  return beneath(broken(fmt::format("the plan has format {}, this version reads '{}'", text, plan_format), "make the plan again"),
                 "format");
}

}  // namespace
}  // namespace plan

std::string plan_to_json(const Plan& plan, int indent) { return base::print_json(plan::value_of(plan), indent); }

Result<Plan> plan_from_json(std::string_view text) {
  HARN_TRY(value, base::parse_json(text));
  if (!value.is(base::ValueKind::object)) return plan::wrong_kind(value, "an object");
  HARN_OK(plan::check_format(value));
  Plan plan;
  HARN_OK(plan::read_members(value, plan, "format"));
  return plan;
}

std::string digest(const Plan& plan) { return "plan-" + base::sha256_hex(base::canonical_json(plan::value_of(plan))).substr(0, 24); }

}  // namespace harn
