// SPDX-License-Identifier: Apache-2.0
// Verbs about Harn itself: version, help, completion.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/verbs.h"

namespace harn::cli {

Result<Reply> version_verb(const Arguments& arguments, const Caller&) {
  if (!arguments.has("json")) return Reply{.out = "harn " HARN_VERSION "\n"};
  base::Value out;
  out.set("version", HARN_VERSION);
  return Reply{.out = base::print_json(out, 2) + "\n"};
}

Result<Reply> help_verb(const Arguments& arguments, const Caller&) {
  const auto& words = arguments.operands();
  if (words.empty()) return Reply{.out = overview()};
  if (const auto* verb = find_verb(words)) return Reply{.out = help_of(*verb)};
  if (words.size() == 1)
    for (const auto& verb : verbs())
      if (verb.name.starts_with(words[0] + " ")) return Reply{.out = overview(words[0])};
  return wrong_usage(fmt::format("{} is not a verb of harn", base::quoted(base::join(words, " "))), "see 'harn help'");
}

Result<Reply> completion_verb(const Arguments& arguments, const Caller&) {
  const auto& shell = arguments.operands().front();
  if (shell == "bash") return Reply{.out = bash_completion()};
  if (shell == "zsh") return Reply{.out = zsh_completion()};
  if (shell == "fish") return Reply{.out = fish_completion()};
  return wrong_usage(fmt::format("there is no completion for {}", base::quoted(shell)), "use bash, zsh or fish");
}

}  // namespace harn::cli
