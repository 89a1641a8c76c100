// SPDX-License-Identifier: Apache-2.0
// Secrets stay out of the log. What is known (values of variables that were withheld) is looked for as it
// is; what is not known is recognised by its shape or by the name before it. Too much is hidden rather than
// too little: the log says that something stood there.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "audit/line.h"
#include "base/text.h"
#include "harn/audit.h"

namespace harn {
namespace {

constexpr std::string_view hidden = "[redacted]";
constexpr std::size_t longest_word = 2048;
constexpr std::size_t most_words = 256;
constexpr std::size_t longest_command = 1u << 15;
constexpr std::size_t shortest_secret = 4;  // shorter ones are hidden only where they stand alone

struct TokenShape {
  std::string_view prefix = {};
  std::size_t least = 0;  // characters after it
};

// Issued with a prefix that says what they are.
constexpr std::array token_shapes{
    TokenShape{"github_pat_", 20}, TokenShape{"ghp_", 16},        TokenShape{"gho_", 16},    TokenShape{"ghu_", 16},
    TokenShape{"ghs_", 16},        TokenShape{"ghr_", 16},        TokenShape{"glpat-", 12},  TokenShape{"gldt-", 12},
    TokenShape{"sk-", 12},         TokenShape{"sk_live_", 8},     TokenShape{"sk_test_", 8}, TokenShape{"rk_live_", 8},
    TokenShape{"pk_live_", 8},     TokenShape{"whsec_", 12},      TokenShape{"xoxa-", 8},    TokenShape{"xoxb-", 8},
    TokenShape{"xoxp-", 8},        TokenShape{"xoxr-", 8},        TokenShape{"xoxs-", 8},    TokenShape{"xapp-", 8},
    TokenShape{"AKIA", 16},        TokenShape{"ASIA", 16},        TokenShape{"AIza", 30},    TokenShape{"ya29.", 12},
    TokenShape{"npm_", 20},        TokenShape{"pypi-", 20},       TokenShape{"hf_", 20},     TokenShape{"dop_v1_", 20},
    TokenShape{"dckr_pat_", 12},   TokenShape{"shpat_", 16},      TokenShape{"SG.", 20},     TokenShape{"glsa_", 16},
    TokenShape{"eyJ", 20},         TokenShape{"AGE-SECRET-", 16}, TokenShape{"hvs.", 16},    TokenShape{"ATATT3", 16},
};

// The end of a name after which a secret follows: "db_password=…", "--api-key …", "X-Auth-Token: …".
constexpr std::array<std::string_view, 25> secret_names{
    "password",      "passwd",     "passphrase",  "passcode",   "pwd",        "pass",       "secret",     "token",       "apikey",
    "api_key",       "api-key",    "accesskey",   "access_key", "access-key", "secret_key", "secret-key", "private_key", "private-key",
    "authorization", "credential", "credentials", "signature",  "cookie",     "sig",        "session_id"};

// "Authorization: Bearer …"
constexpr std::array<std::string_view, 4> schemes{"bearer", "basic", "token", "digest"};

// Words whose next word is a secret although no name says so.
constexpr std::array<std::string_view, 2> login_options{"-u", "--user"};

// Programs with a short option for a password, given in the same word or in the next.
struct PasswordOption {
  std::string_view program = {};
  std::string_view option = {};
  bool next = false;
};
constexpr std::array password_options{
    PasswordOption{"mysql", "-p"},           PasswordOption{"mysqldump", "-p"},
    PasswordOption{"mysqladmin", "-p"},      PasswordOption{"mariadb", "-p"},
    PasswordOption{"mariadb-dump", "-p"},    PasswordOption{"mariadb-admin", "-p"},
    PasswordOption{"sshpass", "-p"},         PasswordOption{"sshpass", "-p", true},
    PasswordOption{"redis-cli", "-a", true}, PasswordOption{"ldapsearch", "-w", true},
};

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool is_token(char c) { return is_word(c) || c == '_' || c == '-' || c == '.' || c == '+' || c == '/' || c == '=' || c == '~'; }
bool is_name(char c) { return is_word(c) || c == '_' || c == '-' || c == '.'; }
bool ends_value(char c) {
  return c == '&' || c == ' ' || c == ';' || c == ',' || c == '\n' || c == '\t' || c == '"' || c == '\'' || c == '}';
}

template <class Test>
std::size_t run_of(std::string_view text, Test test) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), test) - text.begin());
}

bool names_a_secret(std::string_view name) {
  const auto lower = base::lower_ascii(name);
  return std::ranges::any_of(secret_names, [&](std::string_view end) { return lower.ends_with(end); });
}

void hide_all(std::string& text, std::string_view secret) {
  for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + hidden.size()))
    text.replace(at, secret.size(), hidden);
}

void hide_known(std::string& text, std::span<const std::string> secrets) {
  for (const auto& secret : secrets) {
    if (secret.empty()) continue;
    if (secret.size() >= shortest_secret) hide_all(text, secret);
    else if (text == secret) text = hidden;
    else if (text.ends_with("=" + secret)) text.replace(text.size() - secret.size(), secret.size(), hidden);
  }
}

void hide_tokens(std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && is_word(text[at - 1])) continue;
    const auto rest = std::string_view(text).substr(at);
    for (const auto& shape : token_shapes) {
      if (!rest.starts_with(shape.prefix)) continue;
      const auto length = run_of(rest.substr(shape.prefix.size()), is_token);
      if (length < shape.least) continue;
      text.replace(at, shape.prefix.size() + length, hidden);
      at += hidden.size() - 1;
      break;
    }
  }
}

// scheme://login@host: everything up to the last '@' before the path.
void hide_logins(std::string& text) {
  for (auto at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    const auto from = at + 3;
    const auto authority = std::string_view(text).substr(from, text.find_first_of("/?# \t\n\"'", from) - from);
    const auto sign = authority.rfind('@');
    if (sign != std::string_view::npos) text.replace(from, sign, hidden);
  }
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  return at + run_of(text.substr(std::min(at, text.size())), [](char c) { return c == ' '; });
}

// "Bearer …" wherever it stands.
void hide_after_schemes(std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && is_word(text[at - 1])) continue;
    const auto length = run_of(std::string_view(text).substr(at), is_word);
    if (std::ranges::find(schemes, base::lower_ascii(text.substr(at, length))) == schemes.end()) continue;
    const auto from = skip_spaces(text, at + length);
    const auto value = run_of(std::string_view(text).substr(std::min(from, text.size())), is_token);
    if (from == at + length || value < shortest_secret * 2) continue;
    text.replace(from, value, hidden);
  }
}

// The name that ends before a sign, quotes and spaces between them aside.
std::string_view name_before(std::string_view text, std::size_t sign) {
  auto end = sign;
  while (end > 0 && (text[end - 1] == '"' || text[end - 1] == '\'' || text[end - 1] == ' ')) --end;
  auto begin = end;
  while (begin > 0 && is_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

struct Stretch {
  std::size_t from = 0;
  std::size_t length = 0;
};

// The value behind a sign: what stands in quotes, or a word.
Stretch value_after(std::string_view text, std::size_t sign) {
  const auto from = skip_spaces(text, sign + 1);
  if (from >= text.size()) return {.from = text.size()};
  if (text[from] == '"' || text[from] == '\'') return {from + 1, std::min(text.find(text[from], from + 1), text.size()) - from - 1};
  // A cookie is a list of its own.
  const bool list = base::lower_ascii(name_before(text, sign)).ends_with("cookie");
  const auto length = run_of(text.substr(from), [list](char c) { return !ends_value(c) || (list && (c == ';' || c == ' ')); });
  // An authorization has two words; the second is the secret, and found by the first.
  const bool scheme = std::ranges::find(schemes, base::lower_ascii(text.substr(from, length))) != schemes.end();
  return {.from = from, .length = scheme ? 0 : length};
}

// NAME=…, NAME: …, "NAME": "…"
void hide_after_names(std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((text[at] != '=' && text[at] != ':') || !names_a_secret(name_before(text, at))) continue;
    const auto value = value_after(text, at);
    if (value.length != 0) text.replace(value.from, value.length, hidden);
  }
}

void hide_private_keys(std::string& text) {
  static constexpr std::string_view opening = "-----BEGIN ";
  for (std::size_t begin = text.find(opening); begin != std::string::npos; begin = text.find(opening, begin + 1)) {
    const auto title = std::string_view(text).substr(begin, text.find('\n', begin) - begin);
    if (title.find("PRIVATE KEY") == std::string_view::npos) continue;
    const auto end = text.find("-----END ", begin);
    const auto dashes = end == std::string::npos ? end : text.find("-----", end + 9);
    text.replace(begin, dashes == std::string::npos ? std::string::npos : dashes + 5 - begin, hidden);
  }
}

bool hides_next(std::string_view word) {
  return word.size() > 1 && word.starts_with('-') && word.find('=') == std::string_view::npos && names_a_secret(word);
}

// As it will stand in the log, where a character may take six.
std::size_t written_size(std::string_view text) {
  std::size_t size = 0;
  for (const char c : text) size += c >= ' ' && c <= '~' && c != '"' && c != '\\' ? 1 : 6;
  return size;
}

std::string cut(std::string text) {
  std::size_t end = 0;
  for (std::size_t size = 0; end < text.size(); ++end) {
    size += written_size(std::string_view(text).substr(end, 1));
    if (size > longest_word) break;
  }
  if (end == text.size()) return text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}[{} more bytes]", text.substr(0, end), text.size() - end);
}

// After "-u" or "--user" comes NAME:PASSWORD.
std::string without_password(std::string word) {
  const auto colon = word.find(':');
  return colon == std::string::npos ? word : word.substr(0, colon + 1) + std::string(hidden);
}

// Words one after the other: an option, or the program they belong to, may make the next one a secret.
class Sentence {
 public:
  // What is said in place of the whole word; nothing where the words before do not make it a secret.
  std::optional<std::string> instead_of(const std::string& word) {
    auto out = decide(word);
    const auto name = word.substr(word.rfind('/') + 1);
    if (std::ranges::any_of(password_options, [&](const auto& known) { return known.program == name; })) program_ = name;
    before_ = word;
    return out;
  }

 private:
  std::optional<std::string> decide(const std::string& word) const {
    if (hides_next(before_) && !word.starts_with("--")) return std::string(hidden);
    if (std::ranges::find(login_options, before_) != login_options.end() && word.find(':') != std::string::npos)
      return without_password(word);
    for (const auto& known : password_options) {
      if (known.program != program_) continue;
      if (known.next && before_ == known.option) return std::string(hidden);
      if (!known.next && word.size() > known.option.size() && word.starts_with(known.option))
        return std::string(known.option) + std::string(hidden);
    }
    return std::nullopt;
  }

  std::string before_ = {};
  std::string program_ = {};
};

// A word may be a whole command line, as after "sh -c".
void hide_in_sentence(std::string& text) {
  Sentence sentence;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto from = text.find_first_not_of(" \t\n", at);
    if (from == std::string::npos) return;
    at = std::min(text.find_first_of(" \t\n", from), text.size());
    const auto instead = sentence.instead_of(text.substr(from, at - from));
    if (!instead) continue;
    text.replace(from, at - from, *instead);
    at = from + instead->size();
  }
}

void hide_by_shape(std::string& text) {
  hide_private_keys(text);
  hide_logins(text);
  hide_in_sentence(text);
  hide_after_schemes(text);
  hide_after_names(text);
  hide_tokens(text);
}

}  // namespace

std::string redacted_text(std::string_view text, std::span<const std::string> secrets) {
  std::string out(text);
  hide_known(out, secrets);
  out = audit::visible(out);
  hide_by_shape(out);
  return cut(std::move(out));
}

std::string text_without_secrets(std::string_view text, std::span<const std::string> secrets) {
  std::string out(text);
  hide_known(out, secrets);
  hide_by_shape(out);
  return out;
}

std::vector<std::string> words_without_secrets(std::span<const std::string> words, std::span<const std::string> secrets) {
  std::vector<std::string> out;
  Sentence sentence;
  for (const auto& word : words) out.push_back(text_without_secrets(sentence.instead_of(word).value_or(word), secrets));
  return out;
}

std::vector<std::string> redacted_words(std::span<const std::string> words, std::span<const std::string> secrets) {
  std::vector<std::string> out;
  std::size_t bytes = 0;
  Sentence sentence;
  for (const auto& word : words) {
    if (out.size() == most_words || bytes > longest_command) {
      out.push_back(fmt::format("[{} more words]", words.size() - out.size()));
      break;
    }
    out.push_back(redacted_text(sentence.instead_of(word).value_or(word), secrets));
    bytes += written_size(out.back());
  }
  return out;
}

}  // namespace harn
