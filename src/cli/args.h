// SPDX-License-Identifier: Apache-2.0
// Command-line arguments by table: one description of a verb drives parsing, help, shell completion
// and the check of the manual page, so that none of them can forget an option.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harn/path.h"
#include "harn/result.h"

namespace harn::cli {

// What a shell may offer in a place.
enum class Complete : std::uint8_t {
  nothing,
  file,
  directory,
  choice
};

struct Option {
  std::string_view name = {};   // without the dashes
  std::string_view value = {};  // what follows, as help shows it; empty = a switch
  std::string_view help = {};
  bool repeatable = false;
  std::string_view choices = {};  // "none|restricted|allowed"; anything else is refused
  Complete complete = Complete::nothing;
  char letter = 0;
  std::string_view attachable = {};  // a switch that may carry a value, only as --name=VALUE
};

struct OptionGroup {
  std::string_view title = {};
  std::span<const Option> options = {};
};

// Everything the outside world tells a verb. Read once, in main.
struct Caller {
  std::vector<std::string> words = {};  // after the program's name
  std::map<std::string, std::string> environment = {};
  AbsPath cwd = {};
  bool cwd_exists = true;
  bool terminal = false;                                     // standard output is one
  bool colour = false;                                       // … that wants it
  bool input_terminal = false;                               // standard input is one
  void (*tell)(std::string_view) = [](std::string_view) {};  // to people at once, for verbs that must speak before they end
  bool (*write)(std::string_view) = nullptr;                 // standard output at once, for answers too long to be held as a whole
  std::string (*read)(std::size_t) = nullptr;                // up to so many bytes of standard input; fewer = it ended
  // One line from the terminal of whoever started us; empty when there is none, or nothing is said.
  std::string (*ask)(std::string_view question) = [](std::string_view) { return std::string(); };
};

// Everything a verb tells the outside world. Written once, in main.
struct Reply {
  int exit_code = 0;
  std::string out = {};
  std::string err = {};

  bool operator==(const Reply&) const = default;
};

inline constexpr int exit_no = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_timeout = 124;
inline constexpr int exit_refused = 125;
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;
inline constexpr int exit_signal_base = 128;

class Arguments;

struct Verb {
  std::string_view name = {};      // "policy check"
  std::string_view operands = {};  // "FILE", "[--] CMD [ARG…]"
  std::string_view summary = {};   // one line
  std::span<const OptionGroup> groups = {};
  std::size_t min_operands = 0;
  std::size_t max_operands = 0;
  bool takes_command = false;  // the first operand ends the options
  bool runs_command = false;   // its exit code is the command's, so ours must not look like one
  Complete complete = Complete::nothing;
  std::string_view choices = {};  // of the first operand
  Result<Reply> (*run)(const Arguments& arguments, const Caller& caller) = nullptr;
};

class Arguments {
 public:
  bool has(std::string_view option) const { return values_.contains(option); }
  // The value of an option that may be given once; null when it was not.
  const std::string* value(std::string_view option) const;
  // Every value of a repeatable option, in order.
  const std::vector<std::string>& all(std::string_view option) const;
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  friend class ArgumentParser;
  std::map<std::string, std::vector<std::string>, std::less<>> values_ = {};
  std::vector<std::string> operands_ = {};
};

// "--opt value", "--opt=value", "-o value", "--" ends the options. "--help" ends parsing at once.
Result<Arguments> parse_arguments(const Verb& verb, std::span<const std::string> words);

// Usage errors, all of one kind.
std::unexpected<Error> wrong_usage(std::string message, std::string hint);

// "help" and its -h, known to every verb.
const Option& help_option();

}  // namespace harn::cli
