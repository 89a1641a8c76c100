// SPDX-License-Identifier: Apache-2.0
#include "run/prepare_command.h"

#include <errno.h>
#include <sys/resource.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"

namespace harn::run {
namespace {

// Where a shell would look: the word itself when it names a place, else every entry of PATH as the
// command will see it.
std::vector<std::string> candidates_for(const std::string& word, const EnvPlan& env) {
  if (word.find('/') != std::string::npos) return {word};
  const auto found = env.variables.find("PATH");
  const std::string path = found == env.variables.end() ? "/usr/local/bin:/usr/bin:/bin" : found->second;
  std::vector<std::string> out;
  for (const auto entry : base::split(path, ':')) out.push_back((entry.empty() ? "." : std::string(entry)) + "/" + word);
  return out;
}

}  // namespace

Status write_limit(const ResourceLimit& limit, ScriptWriter& writer) {
  static constexpr std::pair<std::string_view, int> known[] = {
      {"cpu", RLIMIT_CPU}, {"fsize", RLIMIT_FSIZE}, {open_files, RLIMIT_NOFILE}, {"core", RLIMIT_CORE}, {"nproc", RLIMIT_NPROC}};
  const auto row = std::ranges::find(known, limit.name, [](const auto& entry) { return entry.first; });
  if (row == std::end(known))
    return fail(Error{.code = ErrorCode::not_supported,
                      .stage = Stage::prepare,
                      .message = fmt::format("the plan sets the unknown limit {}", base::quoted(limit.name)),
                      .hint = "make the plan again with this version of harn"});
  rlimit now = {};
  if (::getrlimit(static_cast<__rlimit_resource_t>(row->second), &now) != 0)
    return fail(sys::os_failure("getrlimit", limit.name, errno, Stage::prepare));
  const std::uint64_t hard = std::min<std::uint64_t>(limit.hard, now.rlim_max);
  writer.add({.op = child::Op::set_limit, .number = row->second, .mask = std::min(limit.soft, hard), .more = hard},
             fmt::format("limit {}", limit.name));
  return {};
}

void freeze_command(const std::vector<std::string>& argv, const EnvPlan& env, PreparedParts& parts) {
  const auto freeze = [&](const std::string& text) { return const_cast<char*>(parts.keep.text(text)); };
  for (const auto& word : argv) parts.argv.push_back(freeze(word));
  parts.argv.push_back(nullptr);
  parts.shell_argv = {freeze("/bin/sh"), nullptr};
  parts.shell_argv.insert(parts.shell_argv.end(), parts.argv.begin() + 1, parts.argv.end());
  for (const auto& [name, value] : env.variables) parts.envp.push_back(freeze(name + "=" + value));
  parts.envp.push_back(nullptr);
  for (const auto& candidate : candidates_for(argv.front(), env)) parts.candidates.push_back(parts.keep.text(candidate));
}

}  // namespace harn::run
