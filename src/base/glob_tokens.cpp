// SPDX-License-Identifier: Apache-2.0
// Splitting a glob into tokens, strictly: every character either means something or is an error.
#include "base/glob_tokens.h"

#include <fmt/format.h>

#include "base/text.h"

namespace harn::base {
namespace {

constexpr std::string_view specials = "*?[]{}\\,!^-";

// Length of the UTF-8 character at the start of `text`; 0 when there is none.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return length <= text.size() && valid_utf8(text.substr(0, length)) ? length : 0;
}

char32_t decode(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead;
  char32_t code = lead & (0x7Fu >> character.size());
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return code;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view glob) : glob_(glob), rest_(glob) {}

  Result<std::vector<GlobToken>> run() {
    HARN_OK(check_text());
    while (!rest_.empty()) HARN_OK(next());
    if (!open_.empty()) return wrong("has an unclosed '{'", open_.back(), "close it with '}' or write '\\{'");
    return std::move(tokens_);
  }

 private:
  std::unexpected<Error> wrong(std::string_view problem, std::size_t position, std::string hint) const {
    return bad_glob(glob_, fmt::format("{} at character {}", problem, position), std::move(hint));
  }

  Status check_text() const {
    if (glob_.empty()) return bad_glob(glob_, "is empty", "write '**' for everything, or leave the list empty for nothing");
    if (glob_.size() > max_glob_bytes) return bad_glob(glob_, fmt::format("has {} bytes", glob_.size()), "a glob has at most 1024 bytes");
    if (!valid_utf8(glob_)) return bad_glob(glob_, "is not valid UTF-8", "save the file as UTF-8");
    if (glob_.find('\0') != std::string_view::npos) return bad_glob(glob_, "contains a NUL byte", "remove it");
    return {};
  }

  std::string_view take() {
    const auto length = character_length(rest_);
    const auto character = rest_.substr(0, length);
    rest_.remove_prefix(length);
    ++position_;
    return character;
  }

  GlobToken& push(GlobToken::Kind kind, std::size_t position, std::string_view text) {
    tokens_.push_back({.kind = kind, .atom = {}, .position = position, .text = std::string(text), .plain = {}});
    return tokens_.back();
  }

  void push_literal(std::size_t position, std::string_view text, std::string_view character) {
    GlobToken& token = push(GlobToken::Kind::atom, position, text);
    token.plain = character;
    token.atom.ranges = {{decode(character), decode(character)}};
  }

  Status next() {
    const std::string_view from = rest_;
    const std::size_t position = position_ + 1;
    const std::string_view character = take();
    switch (character.front()) {
      case '/': push(GlobToken::Kind::slash, position, character); return {};
      case '*': return star(from, position);
      case '?': push(GlobToken::Kind::atom, position, character).atom.kind = Glob::Atom::Kind::any; return {};
      case '[': return set(from, position);
      case '\\': return escape(from, position);
      case '{': return open_brace(position);
      case '}': return close_brace(position);
      case ',':
        if (!open_.empty()) {
          push(GlobToken::Kind::comma, position, character);
          return {};
        }
        break;
      default: break;
    }
    push_literal(position, character, character);
    return {};
  }

  Status star(std::string_view from, std::size_t position) {
    std::size_t run = 1;
    while (rest_.starts_with('*')) take(), ++run;
    if (run > 2) return wrong(fmt::format("has {} stars in a row", run), position, "write '*' or '**'");
    const auto kind = run == 2 ? GlobToken::Kind::any_depth : GlobToken::Kind::atom;
    push(kind, position, from.substr(0, run)).atom.kind = Glob::Atom::Kind::star;
    return {};
  }

  Status escape(std::string_view from, std::size_t position) {
    if (rest_.empty() || specials.find(rest_.front()) == std::string_view::npos)
      return wrong("has a '\\' before an ordinary character", position, "'\\' only escapes *?[]{},!^- and itself; separate with '/'");
    const auto character = take();
    push_literal(position, from.substr(0, 2), character);
    return {};
  }

  Status open_brace(std::size_t position) {
    open_.push_back(position);
    if (open_.size() > max_glob_nesting) return wrong("nests braces too deeply", position, "write several globs instead");
    if (rest_.starts_with('}')) return wrong("has empty braces", position, "name alternatives, or write '\\{\\}'");
    push(GlobToken::Kind::open, position, "{");
    return {};
  }

  Status close_brace(std::size_t position) {
    if (open_.empty()) return wrong("has a '}' without '{'", position, "write '\\}' for a literal brace");
    open_.pop_back();
    push(GlobToken::Kind::close, position, "}");
    return {};
  }

  // One character of a set, escapes undone.
  Result<char32_t> member(std::size_t start) {
    if (rest_.empty()) return wrong("has an unclosed '['", start, "close it with ']' or write '\\['");
    if (rest_.front() == '/') return wrong("has a '/' inside '[…]'", position_ + 1, "a set stands for one character of a name");
    if (rest_.front() == '\\') {
      take();
      if (rest_.empty() || specials.find(rest_.front()) == std::string_view::npos)
        return wrong("has a '\\' before an ordinary character", position_, "'\\' only escapes *?[]{},!^- and itself; separate with '/'");
    }
    return decode(take());
  }

  Status set(std::string_view from, std::size_t position) {
    Glob::Atom atom{.kind = Glob::Atom::Kind::set, .negated = false, .ranges = {}};
    if (rest_.starts_with('!') || rest_.starts_with('^')) {
      atom.negated = true;
      take();
    }
    // As in POSIX, a ']' that stands first is a member.
    for (bool first = true; first || !rest_.starts_with(']'); first = false) {
      const std::size_t at = position_ + 1;
      HARN_TRY(low, member(position));
      char32_t high = low;
      if (rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']') {
        take();
        HARN_TRY(end, member(position));
        high = end;
      }
      if (high < low) return wrong("has a range that runs backwards", at, "write the smaller character first");
      atom.ranges.emplace_back(low, high);
    }
    take();
    push(GlobToken::Kind::atom, position, from.substr(0, from.size() - rest_.size())).atom = std::move(atom);
    return {};
  }

  std::string_view glob_;
  std::string_view rest_;
  std::size_t position_ = 0;  // characters taken
  std::vector<std::size_t> open_ = {};
  std::vector<GlobToken> tokens_ = {};
};

}  // namespace

std::unexpected<Error> bad_glob(std::string_view glob, std::string_view problem, std::string hint) {
  return fail(Error{.code = ErrorCode::invalid_policy,
                    .stage = Stage::parse,
                    .message = fmt::format("the glob {} {}", quoted(glob), problem),
                    .hint = std::move(hint)});
}

Result<std::vector<GlobToken>> tokenize_glob(std::string_view glob) { return Tokenizer(glob).run(); }

std::u32string decode_path(std::string_view text) {
  constexpr char32_t not_utf8 = 0xDC00;  // lone surrogates never come out of valid UTF-8
  std::u32string characters;
  while (!text.empty()) {
    const auto length = character_length(text);
    characters += length > 0 ? decode(text.substr(0, length)) : not_utf8 + static_cast<unsigned char>(text.front());
    text.remove_prefix(length > 0 ? length : 1);
  }
  return characters;
}

}  // namespace harn::base
