// SPDX-License-Identifier: Apache-2.0
// The environment is the widest unguarded door into a sandbox: this file decides by name which of
// the caller's variables go through it. The tables are the policy; each row says why it is there.
#include "policy/env_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::policy {
namespace {

constexpr std::array<std::string_view, 5> never_passed{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "AWS_SECRET_ACCESS_KEY",
                                                       "GITHUB_TOKEN"};

struct NamePattern {
  std::string_view pattern = {};
  std::string_view holds = {};
};

// Lifted only by their exact name in passthrough. '*' stands for any text; letter case is ignored.
// The first row that matches is the one reported.
constexpr std::array secret_patterns{
    NamePattern{"*_API_KEY", "API keys"},
    NamePattern{"*_APIKEY", "API keys"},
    NamePattern{"*_TOKEN", "access tokens"},
    NamePattern{"TOKEN", "access tokens"},
    NamePattern{"*AUTHTOKEN", "registry tokens such as npm's _authToken"},
    NamePattern{"*_PAT", "personal access tokens"},
    NamePattern{"*SECRET*", "secrets"},
    NamePattern{"*PASSWORD*", "passwords"},
    NamePattern{"*PASSWD*", "passwords"},
    NamePattern{"*PASSPHRASE*", "passphrases of keys"},
    NamePattern{"*_PASS", "passwords"},
    NamePattern{"MYSQL_PWD", "a database password"},
    NamePattern{"*_CREDENTIALS", "credentials or the path to them"},
    NamePattern{"*_CREDENTIAL", "credentials or the path to them"},
    NamePattern{"AWS_*", "cloud identity: keys, session, profile, role"},
    NamePattern{"*_ACCESS_KEY*", "cloud storage keys and their ids"},
    NamePattern{"*_PRIVATE_KEY*", "private keys"},
    NamePattern{"*_KEY", "keys; hardly anything harmless is named so"},
    NamePattern{"*_AUTH", "logins such as COMPOSER_AUTH"},
    NamePattern{"*_AUTH_CONFIG", "registry logins such as DOCKER_AUTH_CONFIG"},
    NamePattern{"*_DSN", "addresses that carry a password"},
    NamePattern{"*DATABASE_URL", "addresses that carry a password"},
    NamePattern{"*_CONNECTION_STRING", "addresses that carry a password"},
    NamePattern{"*_WEBHOOK_URL", "addresses that are themselves the secret"},
    NamePattern{"OP_SESSION_*", "password manager sessions"},
    NamePattern{"BW_SESSION", "password manager sessions"},
    NamePattern{"KUBECONFIG", "the path to cluster credentials"},
    NamePattern{"XAUTHORITY", "the path to the display's credentials"},
    NamePattern{"SSH_AUTH_SOCK", "an agent that signs with the user's keys"},
    NamePattern{"GPG_AGENT_INFO", "an agent that signs with the user's keys"},
    NamePattern{"DBUS_SESSION_BUS_ADDRESS", "a bus that starts programs outside"},
    NamePattern{"DOCKER_HOST", "a daemon that hands out root"},
    NamePattern{"CONTAINER_HOST", "a daemon that starts programs outside"},
};

// Proxy and certificate variables must reach programs; this one would fall to AWS_*.
constexpr std::array<std::string_view, 1> kept{"AWS_CA_BUNDLE"};

// Code the caller's session would inject into every program or shell. Not a boundary (a command can
// set them for its own children) but a source of behaviour no policy mentions. NODE_OPTIONS,
// PYTHONPATH and the like stay: builds rely on them. PROMPT_COMMAND stays: only interactive shells
// read it.
constexpr std::array loader_patterns{
    NamePattern{"LD_*", "the dynamic loader of ELF systems"},
    NamePattern{"DYLD_*", "the dynamic loader of macOS"},
    NamePattern{"GLIBC_TUNABLES", "the C library"},
    NamePattern{"BASH_ENV", "a file every bash script runs first"},
    NamePattern{"ENV", "a file every POSIX shell runs first"},
};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

// '*' matches any text. Both sides in upper case.
bool name_matches(std::string_view pattern, std::string_view name) {
  // The two ends decide most of the thousands of comparisons a plan makes.
  if (pattern.empty() || name.empty()) return pattern == name || pattern == "*";
  if (pattern.front() != '*' && pattern.front() != name.front()) return false;
  if (pattern.back() != '*' && pattern.back() != name.back()) return false;
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  // Between stars the leftmost place is as good as any; the last piece has to stand at the end.
  for (auto next = pattern.find('*'); next != std::string_view::npos; next = pattern.find('*')) {
    const auto piece = pattern.substr(0, next);
    const auto found = name.find(piece);
    if (found == std::string_view::npos) return false;
    name.remove_prefix(found + piece.size());
    pattern.remove_prefix(next + 1);
  }
  return name.ends_with(pattern);
}

// Which names a table could match at all, by two letters that stand together in every text a row asks for. Nearly every
// variable is told apart by this, and every plan and every command asks for all of them.
class Letters {
 public:
  template <class Patterns>
  consteval explicit Letters(const Patterns& patterns) {
    for (const auto& row : patterns) {
      const auto text = row.pattern;
      const bool open_front = text.front() == '*';
      const bool open_back = text.back() == '*';
      const auto literal = text.substr(open_front ? 1 : 0, text.size() - (open_front ? 1 : 0) - (open_back ? 1 : 0));
      if (literal.size() < 2 || literal.find('*') != std::string_view::npos)
        std::unreachable();  // does not compile: a row needs one text of two letters or more
      if (!open_front) begins_.add(literal[0], literal[1]);
      else if (!open_back) ends_.add(literal[literal.size() - 2], literal.back());
      else inside_.add(literal[0], literal[1]);
    }
  }

  constexpr bool may_match(std::string_view name) const {
    if (name.size() < 2) return false;
    if (begins_.has(name[0], name[1]) || ends_.has(name[name.size() - 2], name.back())) return true;
    for (std::size_t i = 0; i + 1 < name.size(); ++i)
      if (inside_.has(name[i], name[i + 1])) return true;
    return false;
  }

 private:
  // Capital letters, digits and '_' each have a place of their own.
  class Pairs {
   public:
    constexpr void add(char first, char second) { rows_[row(first)] |= bit(second); }
    constexpr bool has(char first, char second) const { return (rows_[row(first)] & bit(second)) != 0; }

   private:
    static constexpr std::size_t row(char letter) { return static_cast<unsigned char>(letter) % 64; }
    static constexpr std::uint64_t bit(char letter) { return std::uint64_t{1} << row(letter); }

    std::array<std::uint64_t, 64> rows_ = {};
  };

  Pairs begins_ = {};
  Pairs ends_ = {};
  Pairs inside_ = {};
};

constexpr Letters secret_letters(secret_patterns);
constexpr Letters loader_letters(loader_patterns);

// `name` in upper case, here and in what calls it.
template <class Patterns>
const NamePattern* first_match(const Patterns& patterns, std::string_view name) {
  const auto* row =
      std::find_if(patterns.begin(), patterns.end(), [&](const NamePattern& candidate) { return name_matches(candidate.pattern, name); });
  return row == patterns.end() ? nullptr : row;
}

const NamePattern* secret_row(std::string_view name) {
  if (!secret_letters.may_match(name) || std::find(kept.begin(), kept.end(), name) != kept.end()) return nullptr;
  return first_match(secret_patterns, name);
}

bool is_never_passed(std::string_view name) { return std::find(never_passed.begin(), never_passed.end(), name) != never_passed.end(); }

class Filter {
 public:
  explicit Filter(const EnvRules& rules) : rules_(rules) {
    for (const std::string& entry : rules.strip) strip_.emplace_back(entry, upper(entry));
  }

  // Why the name does not pass; empty when it does.
  std::string why_not(const std::string& name) const {
    const auto upper_name = upper(name);
    if (is_never_passed(upper_name)) return "never reaches a sandbox; nothing can pass it";
    if (std::string why = stripped(upper_name); !why.empty()) return why;
    if (rules_.remove.contains(name)) return "removed by env.remove";
    // A wrapper program starts with this environment before it confines anything, so what makes a
    // loader or shell run foreign code passes under no circumstances; a command can set it for itself.
    if (const NamePattern* row = loader_letters.may_match(upper_name) ? first_match(loader_patterns, upper_name) : nullptr)
      return fmt::format("matches '{}' ({})", row->pattern, row->holds);
    if (rules_.set.contains(name)) return {};
    return withheld(name, upper_name);
  }

 private:
  std::string stripped(std::string_view upper_name) const {
    for (const auto& [entry, pattern] : strip_)
      if (name_matches(pattern, upper_name)) return fmt::format("stripped by env.strip {}", base::quoted(entry));
    return {};
  }

  // The filter for values that come from the caller.
  std::string withheld(const std::string& name, std::string_view upper_name) const {
    if (entries(rules_.passthrough).contains(name)) return {};
    if (const NamePattern* row = secret_row(upper_name))
      return fmt::format("matches '{}' ({}); env.passthrough can name it", row->pattern, row->holds);
    if (rules_.mode == EnvMode::replace) return "not carried over by env.mode 'replace'";
    return {};
  }

  const EnvRules& rules_;
  std::vector<std::pair<std::string, std::string>> strip_ = {};  // as written, and in upper case
};

}  // namespace

bool always_stripped(std::string_view name) { return is_never_passed(upper(name)); }

std::string_view secret_pattern(std::string_view name) {
  const NamePattern* row = secret_row(upper(name));
  return row == nullptr ? std::string_view{} : row->pattern;
}

EnvOutcome apply_env_rules(const EnvRules& rules, const std::map<std::string, std::string>& caller) {
  const Filter filter(rules);
  EnvOutcome outcome;
  const auto take = [&](const auto& variable) {
    std::string why = filter.why_not(variable.first);
    if (why.empty()) outcome.variables.insert(outcome.variables.end(), variable);
    else outcome.removed.push_back({variable.first, std::move(why)});
  };
  // Both are sorted by name; where both have one, `set` counts.
  auto own = rules.set.begin();
  for (const auto& variable : caller) {
    for (; own != rules.set.end() && own->first < variable.first; ++own) take(*own);
    if (own == rules.set.end() || own->first != variable.first) take(variable);
  }
  for (; own != rules.set.end(); ++own) take(*own);
  return outcome;
}

}  // namespace harn::policy
