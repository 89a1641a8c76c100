// SPDX-License-Identifier: Apache-2.0
// A second reading of Seatbelt profiles, written against the language and not against our printer:
// it parses the text and decides as the kernel would, so that one can ask what a profile really grants.
// Operations and filters it does not know are errors, as they are for the real compiler.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace harn::plan {

struct SbplNode {
  enum class Kind {
    list,
    symbol,
    string
  };
  Kind kind = Kind::list;
  std::string text = {};
  std::vector<SbplNode> items = {};
};

// The expressions of a text; nothing when it is not well formed.
std::optional<std::vector<SbplNode>> parse_sbpl(std::string_view text);

// One thing a process attempts. Members that do not apply stay empty and match no filter.
struct SbplAttempt {
  std::string operation = {};
  std::string path = {};
  std::string name = {};  // Mach service, sysctl or POSIX object
  std::string ioctl = {};
  std::string local = {};   // "localhost:80"
  std::string remote = {};  // "93.184.216.34:443"
  std::string socket = {};  // Unix socket on the other end
  std::string socket_domain = {};
  bool same_sandbox = false;
};

class SbplProfile {
 public:
  // What is wrong with the text ends up in `problem`.
  static std::optional<SbplProfile> parse(std::string_view text, std::string& problem);

  bool allows(const SbplAttempt& attempt) const;
  bool allows(std::string operation, std::string path) const;

 private:
  enum class Match {
    literal,
    subpath,
    regex,
    name,
    name_prefix,
    ioctl,
    socket_domain,
    same_sandbox,
    local,
    remote,
    any_socket,
    socket
  };
  struct Filter {
    Match match = Match::literal;
    std::string value = {};
  };
  struct Rule {
    bool allow = false;
    std::vector<std::string> operations = {};
    std::vector<Filter> filters = {};
  };
  static std::optional<Filter> filter_of(const SbplNode& node);
  static std::optional<Rule> rule_of(const SbplNode& node, std::string& problem);
  static bool matches(const Filter& filter, const SbplAttempt& attempt);

  std::vector<Rule> rules_ = {};
};

}  // namespace harn::plan
