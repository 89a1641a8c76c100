// SPDX-License-Identifier: Apache-2.0
#include "cli/render_denials.h"

#include <fmt/format.h>

#include "base/text.h"
#include "embed/explain.h"
#include "plan/names.h"

namespace harn::cli {
namespace {

// Control characters of a path must not reach a terminal.
std::string plain(const std::string& text) {
  const bool clean = text.find_first_of("\x1b\n\r\t\b") == std::string::npos;
  return clean ? text : base::quoted(text);
}

std::string one(const Denial& denial) {
  std::string out = fmt::format("  {:<8}{}\n          {}", denial.access, plain(denial.target), plain(denial.rule));
  if (!denial.processes.empty()) {
    std::vector<std::string> names;
    for (const auto& process : denial.processes) names.push_back(plain(process));
    out += fmt::format("; {} by {}", denial.call, base::join(names, " > "));
  }
  if (!denial.remedy.empty()) out += fmt::format("\n          allow: {}", plain(denial.remedy));
  if (!denial.hint.empty()) out += fmt::format("\n          {}", plain(denial.hint));
  return out + "\n";
}

}  // namespace

std::string denials_text(const std::vector<Denial>& denials, const Plan& plan) {
  std::string out;
  if (!embed::explains(plan))
    out = fmt::format("harn: refusals are not explained here: {}\n",
                      plan.backend == Backend::linux ? "nothing can be refused, or no supervisor can listen ('harn doctor' says why)"
                                                     : fmt::format("backend {} tells of none", base::enum_name(plan.backend)));
  else if (denials.empty()) return "harn: nothing was refused\n";
  if (denials.empty()) return out;
  out += fmt::format("harn: refused ({}):\n", denials.size());
  for (const auto& denial : denials) out += one(denial);
  return out;
}

}  // namespace harn::cli
