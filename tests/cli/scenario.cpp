// SPDX-License-Identifier: Apache-2.0
#include "cli/scenario.h"

#include <algorithm>

#include "base/text.h"
#include "cli/run_program.h"
#include "support/temp_dir.h"

namespace harn::test {
namespace {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false, quoted = false;
  for (const char c : text) {
    if (c == '\'') quoted = !quoted, inside = true;
    else if (c == ' ' && !quoted) {
      if (inside) words.push_back(std::exchange(word, {}));
      inside = false;
    } else word += c, inside = true;
  }
  if (inside) words.push_back(word);
  return words;
}

class Player {
 public:
  explicit Player(const Scenario& scenario) : scenario_(scenario) {
    environment_ = {
        {"HOME", temp_.directory("home").text()}, {"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}, {"XDG_RUNTIME_DIR", HARN_TEST_RUNTIME}};
    scratch_.directory(".");
  }

  std::vector<std::string> play() {
    for (std::size_t i = 0; i < scenario_.lines.size(); ++i) {
      line_ = &scenario_.lines[i];
      const auto rest = filled(line_->rest);
      if (line_->keyword == "file") i += write_file(rest, i + 1);
      else if (line_->keyword == "dir") temp_.directory(rest);
      else if (line_->keyword == "link") make_link(rest);
      else if (line_->keyword == "env") set_variable(rest);
      else if (line_->keyword == "cd") cwd_ = temp_.path(rest);
      else if (line_->keyword == "$") run(rest);
      else expect(line_->keyword, rest);
    }
    if (!ran_) complain("the scenario runs nothing");
    return std::move(problems_);
  }

 private:
  std::string filled(std::string text) const {
    for (std::size_t at; (at = text.find("{TMP}")) != std::string::npos;) text.replace(at, 5, temp_.root());
    return text;
  }

  std::size_t write_file(const std::string& name, std::size_t next) {
    std::string text;
    std::size_t count = 0;
    for (; next + count < scenario_.lines.size() && scenario_.lines[next + count].keyword == "|"; ++count)
      text += filled(scenario_.lines[next + count].rest) + "\n";
    temp_.file(name, text);
    return count;
  }

  void make_link(const std::string& rest) {
    const auto words = split_words(rest);
    if (words.size() == 2) temp_.link(words[0], words[1]);
    else complain("link needs a name and a target");
  }

  void set_variable(const std::string& rest) {
    const auto equals = rest.find('=');
    environment_[rest.substr(0, equals)] = equals == std::string::npos ? "" : rest.substr(equals + 1);
  }

  void run(const std::string& rest) {
    auto words = split_words(rest);
    if (words.empty() || words[0] != "harn") return complain("a command begins with harn");
    words[0] = HARN_BINARY;
    last_ = run_program({.argv = words, .environment = environment_, .cwd = cwd_, .scratch = scratch_.path()});
    ran_ = true;
  }

  void expect(std::string_view keyword, const std::string& rest) {
    if (!ran_) return complain("nothing ran yet");
    if (keyword == "exit")
      return rest == std::to_string(last_.exit_code) ? void() : complain("exit was " + std::to_string(last_.exit_code));
    const bool is_out = keyword.starts_with("out");
    if (!is_out && !keyword.starts_with("err")) return complain("unknown keyword " + std::string(keyword));
    const auto& text = is_out ? last_.out : last_.err;
    const auto mode = keyword.substr(3);
    const auto lines = base::split(text, '\n');
    const bool part = text.find(rest) != std::string::npos;
    const bool good = mode == "*"                       ? part
                      : mode == "!"                     ? !part
                      : rest == "empty" && mode.empty() ? text.empty()
                                                        : mode.empty() && std::ranges::find(lines, rest) != lines.end();
    if (!good) complain("not so");
  }

  void complain(std::string_view what) {
    problems_.push_back(scenario_.file + ":" + std::to_string(line_ == nullptr ? 0 : line_->number) + ": " + std::string(what) + ": " +
                        (line_ == nullptr ? "" : line_->keyword + " " + filled(line_->rest)) + "\n--- stdout\n" + last_.out +
                        "--- stderr\n" + last_.err);
  }

  const Scenario& scenario_;
  TempDir temp_;
  TempDir scratch_;
  AbsPath cwd_ = temp_.path();
  std::map<std::string, std::string> environment_ = {};
  ProgramRun last_ = {};
  bool ran_ = false;
  const Line* line_ = nullptr;
  std::vector<std::string> problems_ = {};
};

}  // namespace

std::vector<Scenario> read_scenarios(const std::string& file_name, std::string_view text) {
  std::vector<Scenario> scenarios;
  std::size_t number = 0;
  for (const auto line : base::split(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with("# ")) continue;
    if (line.starts_with("=== ")) {
      scenarios.push_back({.file = file_name, .title = std::string(line.substr(4))});
      continue;
    }
    if (scenarios.empty()) scenarios.push_back({.file = file_name, .title = "text before the first scenario"});
    const auto space = std::min(line.find(' '), line.size());
    scenarios.back().lines.push_back(
        {number, std::string(line.substr(0, space)), std::string(line.substr(std::min(space + 1, line.size())))});
  }
  return scenarios;
}

std::vector<std::string> play(const Scenario& scenario) { return Player(scenario).play(); }

}  // namespace harn::test
