// SPDX-License-Identifier: Apache-2.0
#include "cli/learn_answer.h"

#include <fmt/format.h>

#include "base/text.h"
#include "harn/sandbox.h"

namespace harn::cli {
namespace {

// What a word of the operator can change.
bool can_be_granted(const learn::Withheld& one) {
  return one.access != "call" && one.access != "limit" && one.access != "find" &&
         one.why.find("grant what is meant inside") == std::string::npos && one.why.find("read_deny_roots") == std::string::npos;
}

}  // namespace

std::string progress_line(std::size_t run, std::size_t refused, bool more) {
  return fmt::format("harn: learn: run {}: {} refused, {}\n", run, refused, more ? "more to grant" : "nothing new to grant");
}

std::string withheld_lines(const std::vector<learn::Withheld>& withheld) {
  if (withheld.empty()) return {};
  std::string out = fmt::format("harn: learn: left out ({}):\n", withheld.size());
  for (const auto& one : withheld) {
    out += fmt::format("  {:<8}{}: {}\n", one.access, base::one_line(one.what), base::one_line(one.why));
    if (can_be_granted(one)) out += fmt::format("          --yes-for {} grants it\n", base::one_line(base::shell_word(one.what)));
  }
  return out;
}

std::string unused_lines(const std::vector<learn::UnusedGrant>& unused, bool pruned) {
  if (unused.empty()) return {};
  std::string out = fmt::format("harn: learn: granted before and not used{}:\n", pruned ? ", taken out" : "; --prune takes them out");
  for (const auto& one : unused) out += fmt::format("  {} {}\n", one.member, base::one_line(one.value));
  return out;
}

std::string last_words(const Outcome& outcome) {
  constexpr std::size_t lines = 10;
  constexpr std::size_t longest = 4000;
  std::string out;
  for (const auto* stream : {&outcome.captured_stdout, &outcome.captured_stderr}) {
    if (!*stream || (*stream)->empty()) continue;
    std::string_view text = **stream;
    if (text.size() > longest) text.remove_prefix(text.size() - longest);
    auto all = base::split(base::trim(text), '\n');
    if (all.size() > lines) all.erase(all.begin(), all.end() - lines);
    for (const auto line : all) out += "  | " + base::one_line(line) + "\n";
  }
  return out;
}

bool ask_for_withheld(const Caller& caller, std::size_t from, learn::Needs& needs) {
  bool any = false;
  const auto withheld = needs.withheld();
  for (std::size_t i = from; i < withheld.size(); ++i) {
    const auto& one = withheld[i];
    if (!can_be_granted(one)) continue;
    // What a command made the terminal send back knows no number.
    const auto id = make_run_id();
    const auto number = id.substr(id.size() - 4);
    const auto answer = caller.ask(fmt::format("harn: the command wants to {} {} ({}). Grant it? Type y{} for yes: ", one.access,
                                               base::quoted(one.what, 400), base::one_line(one.why), number));
    if (base::trim(answer) != "y" + number) continue;
    needs.say_yes(one.what);
    any = true;
  }
  return any;
}

}  // namespace harn::cli
