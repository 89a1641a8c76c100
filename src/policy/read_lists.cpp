// SPDX-License-Identifier: Apache-2.0
// Shapes that hold many things other than paths: hosts, ports, names, variables. Each entry is checked
// alone and complains with its own place.
#include <fmt/format.h>

#include "base/text.h"
#include "policy/hosts.h"
#include "policy/shapes.h"

namespace harn::policy {
namespace {

using base::Array;
using base::ValueKind;

Result<HostRule> read_host(const Value& value, const Place& at) {
  if (!value.is(ValueKind::string)) return at.expected("a host", value);
  auto rule = parse_host_rule(value.string());
  if (!rule) return at.wrong(fmt::format("{}: {}", at.name(), rule.error().message), rule.error().hint);
  return rule;
}

Status check_variable(const Value& name, const Place& at, TextRule rule) {
  const auto& text = name.string();
  if (text.empty() || has_nul(text) || text.find('=') != std::string::npos)
    return at.expected("a variable name", name, "a name is not empty and has no '=' and no NUL byte");
  if (rule == TextRule::variable && text.find_first_of("*?[") != std::string::npos)
    return at.expected("the exact name of a variable", name, "patterns belong in 'env.strip'");
  return {};
}

Result<std::string> read_text(const Value& value, const Place& at, TextRule rule) {
  const bool command = rule == TextRule::command;
  if (!value.is(ValueKind::string)) return at.expected(command ? "a command" : "a variable name", value);
  if (!command) HARN_OK(check_variable(value, at, rule));
  if (command && (base::trim(value.string()).empty() || has_nul(value.string())))
    return at.expected("a command", value, "an entry is not blank and has no NUL byte");
  return value.string();
}

}  // namespace

Result<const Array*> read_list(const Value& value, const Place& at, std::string_view of_what) {
  if (!value.is(ValueKind::array)) return at.expected(fmt::format("a list of {}", of_what), value);
  return &value.array();
}

Value list_schema(Value items) {
  Value schema;
  schema.set("type", "array");
  schema.set("items", std::move(items));
  return schema;
}

Result<std::vector<HostRule>> Hosts::read(const Value& value, const Place& at) {
  return read_each<HostRule>(value, at, "hosts", read_host);
}

Value Hosts::print(const std::vector<HostRule>& rules) {
  Array list;
  for (const auto& rule : rules) list.emplace_back(text_of(rule));
  return list;
}

Value Hosts::schema() {
  Value host;
  host.set("type", "string");
  host.set("minLength", 1);
  return list_schema(std::move(host));
}

Result<std::set<std::uint16_t>> Ports::read(const Value& value, const Place& at) {
  HARN_TRY(ports, read_each<std::uint16_t>(value, at, "port numbers", Count<std::uint16_t, 1, 65535>::read));
  return std::set<std::uint16_t>(ports.begin(), ports.end());
}

Value Ports::print(const std::set<std::uint16_t>& ports) {
  Array list;
  for (const auto port : ports) list.emplace_back(int{port});
  return list;
}

Value Ports::schema() { return list_schema(Count<std::uint16_t, 1, 65535>::schema()); }

Result<std::set<std::string>> read_texts(const Value& value, const Place& at, TextRule rule) {
  HARN_TRY(list, read_list(value, at, rule == TextRule::command ? "commands" : "variable names"));
  std::set<std::string> texts;
  for (std::size_t i = 0; i < list->size(); ++i) {
    HARN_TRY(text, read_text((*list)[i], at.entry(i, (*list)[i].mark), rule));
    texts.insert(std::move(text));
  }
  return texts;
}

Value print_texts(const std::set<std::string>& texts) { return Array(texts.begin(), texts.end()); }

Value texts_schema(TextRule rule) {
  Value text;
  text.set("type", "string");
  if (rule == TextRule::variable) text.set("pattern", R"(^[^=*?\[]+$)");
  if (rule == TextRule::variable_pattern) text.set("pattern", "^[^=]+$");
  if (rule == TextRule::command) text.set("pattern", "[^ \\t\\r\\n\\f\\v]");
  return list_schema(std::move(text));
}

Result<std::map<std::string, std::string>> Variables::read(const Value& value, const Place& at) {
  if (!value.is(ValueKind::object)) return at.expected_table(value);
  std::map<std::string, std::string> variables;
  for (const auto& member : value.object()) {
    HARN_OK(check_variable(member.name, at.member(member.name, member.mark), TextRule::variable_pattern));
    const Place inner = at.member(member.name, member.value.mark);
    if (!member.value.is(ValueKind::string)) return inner.expected("a string", member.value);
    if (has_nul(member.value.string())) return inner.expected("a string without a NUL byte", member.value);
    variables.emplace(member.name, member.value.string());
  }
  return variables;
}

Value Variables::print(const std::map<std::string, std::string>& variables) {
  Value table = base::Object{};
  for (const auto& [name, text] : variables) table.set(name, text);
  return table;
}

Value Variables::schema() {
  Value names;
  names.set("pattern", "^[^=]+$");
  Value texts;
  texts.set("type", "string");
  Value schema;
  schema.set("type", "object");
  schema.set("propertyNames", std::move(names));
  schema.set("additionalProperties", std::move(texts));
  return schema;
}

}  // namespace harn::policy
