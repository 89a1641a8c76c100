// SPDX-License-Identifier: Apache-2.0
#include "learn/learning.h"

#include <algorithm>
#include <cstdlib>

#include "harn/policy_text.h"

namespace harn::test {

Learning::Learning(const Stand& stand) : Explaining(stand) {
  person().file("kept/note", "");
  // What no workload asks for, and nothing may open.
  prepare(R"(
    mkdir -p {H}/.ssh {H}/.cargo/bin {H}/.aws {H}/private {H}/.config/other
    echo key > {H}/.ssh/id_rsa; echo token > {H}/.netrc; echo token > {H}/.aws/credentials
    echo x > {H}/private/diary; echo x > {H}/.config/other/settings; echo x > {H}/.cargo/bin/unused
  )");
}

std::vector<std::string> Learning::Learned::paths() const {
  std::vector<std::string> out;
  if (!policy) return out;
  const auto add = [&](const std::optional<std::vector<AbsPath>>& list) {
    for (const auto& path : entries(list)) out.push_back(path.text());
  };
  add(policy->workspace_roots);
  add(policy->read_only_roots);
  add(policy->unprotect);
  add(policy->process_sandbox.read_roots);
  add(policy->process_sandbox.write_roots);
  add(policy->process_sandbox.credentials);
  for (const auto& socket : entries(policy->process_sandbox.unix_sockets)) out.push_back(socket.path.text());
  return out;
}

bool Learning::Learned::opens(const std::string& path) const {
  const auto wanted = AbsPath::of(path);
  return std::ranges::any_of(paths(), [&](const std::string& one) { return AbsPath::of(one).contains(wanted); });
}

Learning::Learned Learning::learn(const std::vector<std::string>& flags, std::string_view script) const {
  std::vector<std::string> words = {"learn", "-o", policy_file()};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"--", "sh", "-c", fill(script)});
  const auto ran = person().harn(words);
  Learned out{.exit_code = ran.exit_code, .text = read_whole(policy_file()), .said = ran.out + ran.err};
  if (auto parsed = parse_policy_toml(out.text, {.home = AbsPath::of(person().home()), .file_name = "learned"});
      parsed && !out.text.empty())
    out.policy = std::move(*parsed);
  return out;
}

Finished Learning::run_learned(std::string_view script) const {
  return person().harn({"run", "--policy", policy_file(), "--", "sh", "-c", fill(script)});
}

std::vector<Stand> learn_stands() {
  std::vector<Stand> out = explain_stands();
  if (std::getenv("HARN_LEARN_TIMES") == nullptr || everybody().size() == 1) return out;
  out.push_back({Tier::view, Who::nobody});
  out.push_back({Tier::bare, Who::caller});
  return out;
}

}  // namespace harn::test
