// SPDX-License-Identifier: Apache-2.0
// A small shell lexer: one pass, no recursion, every input has an answer.
#include "policy/shell_words.h"

namespace harn::policy {
namespace {

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  std::vector<SimpleCommand> run() {
    while (!rest_.empty()) step();
    end_command();
    return std::move(commands_);
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void add(char c) {
    word_ += c;
    in_word_ = true;
  }

  void end_word() {
    if (in_word_) command_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  void end_command() {
    end_word();
    if (!command_.empty()) commands_.push_back(std::move(command_));
    command_.clear();
  }

  void step() {
    const char c = take();
    if (c == '\\') return escaped();
    if (c == '"') return toggle_double_quotes();
    if (c == '`') return backquote();
    if (c == '$') return dollar();
    if (double_quoted_) return add(c);
    switch (c) {
      case '\'': return single_quotes();
      case ' ':
      case '\t':
      case '\r':
      case '\v':
      case '\f': return end_word();
      case '\n':
      case ';':
      case '&':
      case '|': return end_command();
      case '(': return open(')');
      case ')': return close(')');
      case '<':
      case '>': return end_word();
      case '#':
        if (!in_word_) return skip_comment();
        break;
      default: break;
    }
    add(c);
  }

  // A command inside the current one; the quoting around it resumes where it ends.
  void open(char closer) {
    end_command();
    nested_.push_back({closer, double_quoted_});
    double_quoted_ = false;
  }

  void close(char closer) {
    end_command();
    if (nested_.empty() || nested_.back().closer != closer) return;
    double_quoted_ = nested_.back().double_quoted;
    nested_.pop_back();
  }

  void backquote() {
    if (!nested_.empty() && nested_.back().closer == '`') close('`');
    else open('`');
  }

  void toggle_double_quotes() {
    double_quoted_ = !double_quoted_;
    in_word_ = true;  // "" is a word of its own and joins its neighbours
  }

  // A backslash before a newline joins lines; elsewhere it protects one character.
  void escaped() {
    if (rest_.empty()) return;
    const char c = take();
    if (c != '\n') add(c);
  }

  void single_quotes() {
    in_word_ = true;
    while (!rest_.empty()) {
      const char c = take();
      if (c == '\'') return;
      word_ += c;
    }
  }

  // $'…' is a quote with escapes, $"…" a plain one, $(…) starts a command; the rest stays text.
  void dollar() {
    if (rest_.starts_with('(')) {
      take();
      return open(')');
    }
    if (!double_quoted_ && rest_.starts_with('\'')) return ansi_quotes();
    if (!double_quoted_ && rest_.starts_with('"')) return;
    add('$');
  }

  void ansi_quotes() {
    take();
    in_word_ = true;
    while (!rest_.empty()) {
      char c = take();
      if (c == '\'') return;
      if (c == '\\' && !rest_.empty()) c = take();
      word_ += c;
    }
  }

  void skip_comment() {
    const auto end = rest_.find('\n');
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }

  struct Nested {
    char closer = ')';
    bool double_quoted = false;
  };

  std::string_view rest_;
  std::vector<SimpleCommand> commands_ = {};
  SimpleCommand command_ = {};
  std::string word_ = {};
  bool in_word_ = false;
  bool double_quoted_ = false;
  std::vector<Nested> nested_ = {};
};

}  // namespace

std::vector<SimpleCommand> split_shell(std::string_view text) { return Lexer(text).run(); }

}  // namespace harn::policy
