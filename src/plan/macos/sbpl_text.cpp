// SPDX-License-Identifier: Apache-2.0
#include "plan/macos/sbpl_text.h"

#include <fmt/format.h>

namespace harn::plan {
namespace {

enum class Value : std::uint8_t {
  none,
  quoted,
  number
};

struct Spelling {
  SbplMatch match;
  std::string_view before;
  Value value;
  std::string_view after;
};

constexpr Spelling spellings[] = {
    {SbplMatch::literal, "(literal ", Value::quoted, ")"},
    {SbplMatch::subpath, "(subpath ", Value::quoted, ")"},
    {SbplMatch::regex, "(regex ", Value::quoted, ")"},
    {SbplMatch::same_sandbox, "(target same-sandbox", Value::none, ")"},
    {SbplMatch::sysctl_prefix, "(sysctl-name-prefix ", Value::quoted, ")"},
    {SbplMatch::service, "(global-name ", Value::quoted, ")"},
    {SbplMatch::service_prefix, "(global-name-prefix ", Value::quoted, ")"},
    {SbplMatch::posix_name, "(ipc-posix-name ", Value::quoted, ")"},
    {SbplMatch::ioctl, "(ioctl-command ", Value::number, ")"},
    {SbplMatch::local_address, "(local ip ", Value::quoted, ")"},
    {SbplMatch::remote_address, "(remote ip ", Value::quoted, ")"},
    {SbplMatch::any_socket, "(remote unix-socket", Value::none, ")"},
    {SbplMatch::socket, "(remote unix-socket (path-literal ", Value::quoted, "))"},
    {SbplMatch::unix_domain, "(socket-domain AF_UNIX", Value::none, ")"},
};

const Spelling& spelling_of(SbplMatch match) {
  for (const auto& row : spellings)
    if (row.match == match) return row;
  return spellings[0];
}

void append(const SbplFilter& filter, std::string& out) {
  const auto& row = spelling_of(filter.match);
  out += row.before;
  if (row.value == Value::quoted) out += sbpl_quoted(filter.value);
  if (row.value == Value::number) out += filter.value;
  out += row.after;
}

void append(const SbplRule& rule, std::string& out) {
  out += rule.allow ? "(allow" : "(deny";
  for (const auto& operation : rule.operations) (out += ' ') += operation;
  // One filter per line once there are several: a profile is read as a diff.
  const std::string_view gap = rule.filters.size() > 1 ? "\n  " : " ";
  for (const auto& filter : rule.filters) append(filter, out += gap);
  out += ")\n";
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Every ASCII character that means something in an extended regular expression.
bool is_special(char c) { return std::string_view(".[]()*+?{}|^$\\").find(c) != std::string_view::npos; }

void append_exact(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (is_special(c)) out += '\\';
    out += c;
  }
}

void append_any_case(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (!is_letter(c)) {
      append_exact({&c, 1}, out);
      continue;
    }
    const char lower = static_cast<char>(c | 0x20);
    out += {'[', lower, static_cast<char>(lower & ~0x20), ']'};
  }
}

}  // namespace

std::string sbpl_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '\r') out += "\\r";
    else if (byte < 0x20 || byte == 0x7f) out += fmt::format("\\x{:02x}", byte);
    else out += c;
  }
  return out += '"';
}

std::string sbpl_any_case(std::string_view exact, std::string_view any_case) {
  std::string out = "^";
  append_exact(exact, out);
  append_any_case(any_case, out);
  return out += "(/|$)";
}

std::string sbpl_text(const SbplFilter& filter) {
  std::string out;
  append(filter, out);
  return out;
}

std::string sbpl_text(std::span<const SbplRule> rules) {
  std::string out = "(version 1)\n(deny default)\n";
  std::string_view why;
  for (const auto& rule : rules) {
    if (rule.why != why) out += "\n; " + rule.why + "\n";
    why = rule.why;
    append(rule, out);
  }
  return out;
}

}  // namespace harn::plan
