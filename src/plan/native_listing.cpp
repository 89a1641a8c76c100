// SPDX-License-Identifier: Apache-2.0
#include "plan/native_listing.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/names.h"

namespace harn::plan {
namespace {

constexpr std::size_t label_width = 13;
constexpr std::size_t line_width = 100;

void end_line(std::string& text) {
  text.resize(text.find_last_not_of(' ') + 1);
  text += '\n';
}

// Wide characters count as one column each; the paths of golden files are ASCII.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string action_text(SyscallAction action, int error) {
  return action == SyscallAction::errno_ ? fmt::format("errno {}", error) : std::string(base::enum_name(action));
}

std::string test_text(const ArgumentTest& test) {
  static constexpr std::string_view signs[] = {"==", "!=", "<", "<=", ">", ">="};
  const auto sign = signs[static_cast<std::size_t>(test.compare)];
  if (test.mask == ~std::uint64_t{0}) return fmt::format("arg{} {} {:#x}", test.index, sign, test.value);
  return fmt::format("(arg{} & {:#x}) {} {:#x}", test.index, test.mask, sign, test.value);
}

}  // namespace

void Listing::section(std::string_view title) {
  if (!text_.empty()) text_ += '\n';
  line(0, title);
}

void Listing::row(std::string_view label, std::string_view value) {
  if (!value.empty()) line(0, fmt::format("{:<{}}{}", label, label_width, value));
}

void Listing::line(std::size_t indent, std::string_view text) {
  text_.append(indent, ' ').append(text);
  end_line(text_);
}

void Listing::words(std::size_t indent, const std::vector<std::string>& list, std::string_view lead) {
  const std::string margin(lead.size(), ' ');
  std::string current(lead);
  for (const auto& word : list) {
    const bool first = current.size() == lead.size();
    if (!first && indent + current.size() + 1 + word.size() > line_width) line(indent, std::exchange(current, margin));
    if (current.size() > lead.size()) current += ' ';
    current += word;
  }
  if (!list.empty()) line(indent, current);
}

void Listing::table(std::size_t indent, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  for (const auto& row : rows) {
    std::string out;
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      out.append(widths[i] - columns(row[i]) + 2, ' ');
    }
    line(indent, out);
  }
}

std::string plain_word(std::string_view word) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  const bool plain =
      !word.empty() && word.front() != ' ' && word.back() != ' ' && base::valid_utf8(word) && std::ranges::none_of(word, control);
  return plain ? std::string(word) : base::quoted(word, word.size());
}

std::string command_line(const std::vector<std::string>& argv) {
  std::string out;
  for (const auto& word : argv) {
    if (!out.empty()) out += ' ';
    out += plain_word(word) == word ? base::shell_word(word) : base::quoted(word, word.size());
  }
  return out;
}

void head_section(Listing& listing, const Plan& plan) {
  listing.row("backend", base::enum_name(plan.backend));
  listing.row("route", base::enum_name(plan.route));
  listing.row("profile", base::enum_name(plan.profile));
  listing.row("host", plan.host);
  listing.row("command", command_line(plan.argv));
  listing.row("cwd", plain_word(plan.cwd.text()));
  if (plan.wasi) listing.row("module", fmt::format("{} in {}", plain_word(plan.wasi->module.text()), plan.wasi->runtime));
  if (plan.wasi)
    for (const auto& preopen : plan.wasi->preopens)
      listing.row("directory", fmt::format("{} is {}{}", plain_word(preopen.guest), plain_word(preopen.host.text()),
                                           preopen.writable ? "" : ", read-only"));
  if (plan.scratch) listing.row("scratch", plain_word(plan.scratch->text()));
  if (plan.refusal) listing.row("refused", plan.refusal->message);
}

void limits_section(Listing& listing, const LimitPlan& limits) {
  if (limits == LimitPlan{}) return;
  listing.section("limits");
  std::vector<std::vector<std::string>> rows;
  for (const auto& limit : limits.rlimits) rows.push_back({"rlimit", limit.name, fmt::format("soft {} hard {}", limit.soft, limit.hard)});
  for (const auto& [name, value] : limits.cgroup) rows.push_back({"cgroup", name, value});
  for (const auto& [name, value] : limits.watched) rows.push_back({"watched", name, std::to_string(value)});
  const auto number = [&](std::string_view name, const std::optional<std::uint64_t>& value, std::string_view unit) {
    if (value) rows.push_back({"supervised", std::string(name), fmt::format("{} {}", *value, unit)});
  };
  number("wall_time", limits.wall_time_ms, "ms");
  number("idle_timeout", limits.idle_timeout_ms, "ms");
  number("max_output", limits.max_output_bytes, "bytes");
  listing.table(2, rows);
}

void egress_section(Listing& listing, const Plan& plan) {
  if (!plan.egress) return;
  listing.section("egress");
  std::vector<std::vector<std::string>> rows;
  for (const auto& rule : plan.egress->allow)
    rows.push_back({"allow", rule.host, rule.port ? fmt::format("port {}", *rule.port) : "every port"});
  for (const auto& rule : plan.egress->deny)
    rows.push_back({"deny", rule.host, rule.port ? fmt::format("port {}", *rule.port) : "every port"});
  for (const auto port : plan.egress->blocked_ports) rows.push_back({"block", "*", fmt::format("port {}", port)});
  if (rows.empty()) rows.push_back({"nothing"});
  if (!plan.egress->block_private) rows.push_back({"allow", "addresses that are not public", "every port"});
  if (plan.egress->allow_loopback) rows.push_back({"allow", "the host's loopback", "every port"});
  for (const auto port : plan.egress->ports) rows.push_back({"accept", "*", fmt::format("port {}", port)});
  for (const auto port : plan.egress->publish) rows.push_back({"publish", "127.0.0.1", fmt::format("port {}", port)});
  if (plan.egress->supervised) rows.push_back({"lead", "*", "every connection to the relay, by the supervisor"});
  if (plan.egress->asks) rows.push_back({"ask", "*", "every port that is accepted"});
  rows.push_back({"relay", "localhost", fmt::format("port {}", plan.egress->relay_port)});
  listing.table(2, rows);
}

void environment_section(Listing& listing, const EnvPlan& env) {
  if (env == EnvPlan{}) return;
  listing.section("environment");
  std::vector<std::string> names;
  for (const auto& [name, value] : env.variables) names.push_back(plain_word(name));
  if (!names.empty()) listing.line(2, "kept");
  listing.words(4, names);
  std::vector<std::vector<std::string>> rows;
  for (const auto& removed : env.removed) rows.push_back({plain_word(removed.name), removed.why});
  if (!rows.empty()) listing.line(2, "removed");
  listing.table(4, rows);
}

void syscalls_section(Listing& listing, const SyscallFilter& filter) {
  listing.section(fmt::format("syscalls {}, otherwise {}", filter.arch, action_text(filter.otherwise, filter.otherwise_error)));
  for (const auto& rule : filter.rules) {
    std::vector<std::string> reason;
    for (const auto word : base::split(rule.reason, ' ')) reason.emplace_back(word);
    listing.words(2, reason, fmt::format("{:<9} ", action_text(rule.action, rule.error)));
    listing.words(4, rule.names);
    std::string when;
    for (const auto& test : rule.when) when += (when.empty() ? "when " : " and ") + test_text(test);
    if (!when.empty()) listing.line(4, when);
  }
}

}  // namespace harn::plan
