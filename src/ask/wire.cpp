// SPDX-License-Identifier: Apache-2.0
#include "ask/wire.h"

#include "base/json.h"
#include "base/value.h"

namespace harn::ask {
namespace {

constexpr std::int64_t protocol_version = 1;
constexpr std::pair<std::string_view, Word> words[] = {
    {"once", Word::once}, {"run", Word::run}, {"policy", Word::policy}, {"deny", Word::deny}};

base::Array list_of(const std::vector<std::string>& texts) {
  base::Array out;
  for (const auto& text : texts) out.emplace_back(text);
  return out;
}

std::string line_of(const base::Value& value) { return base::print_json(value) + "\n"; }

}  // namespace

std::string_view text_of(Word word) {
  for (const auto& [text, one] : words)
    if (one == word) return text;
  return "deny";
}

std::string hello_line(const Hello& hello) {
  base::Value out;
  out.set("type", "hello");
  out.set("version", protocol_version);
  out.set("run_id", hello.run_id);
  out.set("argv", list_of(hello.argv));
  out.set("cwd", hello.cwd);
  return line_of(out);
}

std::string question_line(const Question& question) {
  base::Value out;
  out.set("type", "question");
  out.set("id", static_cast<std::int64_t>(question.id));
  out.set("access", question.access);
  out.set("target", question.target);
  out.set("rule", question.rule);
  if (!question.warning.empty()) out.set("warning", question.warning);
  out.set("processes", list_of(question.processes));
  base::Array answers;
  for (const auto& [text, word] : words)
    if (word != Word::policy || question.lasting) answers.emplace_back(text);
  out.set("answers", std::move(answers));
  out.set("expires_ms", static_cast<std::int64_t>(question.patience.count()));
  return line_of(out);
}

std::string withdrawn_line(const Question& question, std::string_view why) {
  base::Value out;
  out.set("type", "withdrawn");
  out.set("id", static_cast<std::int64_t>(question.id));
  out.set("why", why);
  return line_of(out);
}

std::optional<std::pair<std::uint64_t, Said>> read_answer(std::string_view line) {
  const auto parsed = base::parse_json(line);
  if (!parsed || !parsed->is(base::ValueKind::object)) return std::nullopt;
  const auto* id = parsed->find("id");
  const auto* answer = parsed->find("answer");
  const auto* lasts = parsed->find("lasts_ms");
  if (id == nullptr || !id->is(base::ValueKind::integer) || id->integer() <= 0) return std::nullopt;
  if (answer == nullptr || !answer->is(base::ValueKind::string)) return std::nullopt;
  Said said;
  bool known = false;
  for (const auto& [text, word] : words)
    if (text == answer->string()) {
      said.word = word;
      known = true;
    }
  if (!known) return std::nullopt;
  if (lasts != nullptr) {
    if (!lasts->is(base::ValueKind::integer) || lasts->integer() <= 0) return std::nullopt;
    said.lasts = milliseconds(lasts->integer());
  }
  return std::pair{static_cast<std::uint64_t>(id->integer()), said};
}

}  // namespace harn::ask
