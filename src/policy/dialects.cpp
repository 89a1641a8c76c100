// SPDX-License-Identifier: Apache-2.0
// The text entry of the dialects: TOML in, one reader per tool.
#include "policy/dialects.h"

#include "policy/read_policy.h"

namespace harn {

std::string_view name_of(Dialect dialect) { return dialect == Dialect::harness ? "harness" : "openhuman"; }

std::optional<Dialect> dialect_named(std::string_view name) {
  for (const Dialect dialect : {Dialect::harness, Dialect::openhuman})
    if (name_of(dialect) == name) return dialect;
  return std::nullopt;
}

Result<Imported> import_dialect(Dialect dialect, std::string_view toml, const DialectContext& context) {
  HARN_TRY(root, policy::parse_toml_value(toml, {.home = context.home, .file_name = context.file_name}));
  return dialect == Dialect::harness ? policy::import_harness(root, context) : policy::import_openhuman(root, context);
}

Limits harness_limits() { return {.max_memory_mb = 512, .max_cpu_seconds = 30, .max_processes = 64, .max_file_size_mb = 100}; }

}  // namespace harn
