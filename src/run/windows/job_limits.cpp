// SPDX-License-Identifier: Apache-2.0
#include "run/windows/job_limits.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::run::windows {
namespace {

using Word = std::pair<std::string_view, std::uint32_t>;
constexpr std::array flag_words{
    Word{"die_on_unhandled_exception", job::die_on_unhandled_exception},
    Word{"kill_on_job_close", job::kill_on_job_close},
};
constexpr std::array ui_words{
    Word{"desktop", job::ui_desktop},
    Word{"display_settings", job::ui_display_settings},
    Word{"exit_windows", job::ui_exit_windows},
    Word{"global_atoms", job::ui_global_atoms},
    Word{"handles", job::ui_handles},
    Word{"read_clipboard", job::ui_read_clipboard},
    Word{"system_parameters", job::ui_system_parameters},
    Word{"write_clipboard", job::ui_write_clipboard},
};

constexpr std::uint32_t whole_machine = 10'000;  // hundredths of a percent

std::unexpected<Error> unknown(std::string_view what, std::string_view name) {
  return fail(Error{.code = ErrorCode::not_supported,
                    .stage = Stage::prepare,
                    .message = fmt::format("the plan asks for the {} {}, which this version cannot set", what, base::quoted(name)),
                    .hint = "make the plan with the same version of Harn"});
}

std::unexpected<Error> out_of_range(std::string_view name, std::uint64_t value) {
  return fail(Error{.code = ErrorCode::not_supported,
                    .stage = Stage::prepare,
                    .message = fmt::format("the job limit {} cannot be {}", name, value),
                    .hint = "use a number Windows can hold"});
}

template <class Words>
Result<std::uint32_t> bits(const std::vector<std::string>& names, const Words& words, std::string_view what) {
  std::uint32_t out = 0;
  for (const auto& name : names) {
    const auto* row = std::ranges::find(words, name, &Word::first);
    if (row == words.end()) return unknown(what, name);
    out |= row->second;
  }
  return out;
}

std::uint32_t rate_of(std::uint64_t milli, unsigned processors) {
  const std::uint64_t all = std::uint64_t{std::max(processors, 1u)} * 1000;
  if (milli >= all) return whole_machine;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(milli * whole_machine / all, 1));
}

Status set_limit(std::string_view name, std::uint64_t value, unsigned processors, JobSettings& out) {
  if (name == "active_process") {
    if (value == 0 || value > std::numeric_limits<std::uint32_t>::max()) return out_of_range(name, value);
    out.limits.flags |= job::active_process;
    out.limits.active_process = static_cast<std::uint32_t>(value);
  } else if (name == "job_memory") {
    out.limits.flags |= job::job_memory;
    out.limits.job_memory = value;
  } else if (name == "process_memory") {
    out.limits.flags |= job::process_memory;
    out.limits.process_memory = value;
  } else if (name == "job_user_time") {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return out_of_range(name, value);
    out.limits.flags |= job::user_time;
    out.limits.user_time = value;
  } else if (name == "cpu_rate_milli") {
    out.cpu_rate = rate_of(value, processors);
  } else {
    return unknown("job limit", name);
  }
  return {};
}

}  // namespace

Result<JobSettings> job_settings(const AppContainer& container, unsigned processors) {
  JobSettings out;
  HARN_TRY(flags, bits(container.job_flags, flag_words, "job flag"));
  HARN_TRY(ui, bits(container.ui_limits, ui_words, "user interface limit"));
  out.limits.flags = flags;
  out.ui = ui;
  for (const auto& [name, value] : container.job_limits) HARN_OK(set_limit(name, value, processors, out));
  return out;
}

JobSettings bare_job() { return {.limits = {.flags = job::kill_on_job_close}}; }

std::string limits_differ(const JobLimits& told, const JobLimits& answered) {
  if (told.flags != answered.flags) return fmt::format("its flags are {:#x} instead of {:#x}", answered.flags, told.flags);
  const auto differs = [&](std::uint32_t flag, std::string_view name, std::uint64_t wanted, std::uint64_t got) {
    return (told.flags & flag) != 0 && wanted != got ? fmt::format("its {} is {} instead of {}", name, got, wanted) : std::string();
  };
  for (auto&& text : {differs(job::active_process, "number of processes", told.active_process, answered.active_process),
                      differs(job::process_memory, "memory per process", told.process_memory, answered.process_memory),
                      differs(job::job_memory, "memory", told.job_memory, answered.job_memory),
                      differs(job::user_time, "processor time", told.user_time, answered.user_time)})
    if (!text.empty()) return text;
  return {};
}

}  // namespace harn::run::windows
