// SPDX-License-Identifier: Apache-2.0
// Shapes that hold paths: the home directory expanded, everything else absolute, and no "..", because
// what ".." means depends on symbolic links that only the host can see.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/shapes.h"

namespace harn::policy {
namespace {

using base::Array;
using base::ValueKind;

constexpr std::size_t max_path_bytes = 4096;
constexpr std::size_t max_path_components = 256;
constexpr std::string_view path_pattern = R"(^(/|~$|~/|\$HOME$|\$HOME/|[A-Za-z]:([/\\]|$)))";
constexpr std::array<std::string_view, 2> socket_members{"path", "allow_dangerous"};

// "~", "~/x", "$HOME", "$HOME/x": how much of the text stands for the home directory.
std::size_t home_prefix(std::string_view text) {
  for (const std::string_view prefix : {"~", "$HOME"})
    if (text == prefix || (text.starts_with(prefix) && text[prefix.size()] == '/')) return prefix.size();
  return 0;
}

bool climbs(std::string_view text) {
  if (text.find("..") == std::string_view::npos) return false;
  std::string flat(text);
  if (!text.starts_with('/')) std::replace(flat.begin(), flat.end(), '\\', '/');  // a drive path has two separators
  const auto parts = base::split(flat, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

Result<std::string> expand_home(const Value& value, const Place& at) {
  const std::string& text = value.string();
  const auto prefix = home_prefix(text);
  if (prefix == 0) return text;
  // A root home would turn "~" into a grant of everything.
  if (at.home().is_root())
    return at.wrong(fmt::format("{} names the home directory in {}, but none is known", at.name(), base::quoted(text)),
                    "write the absolute path");
  return at.home().text() + text.substr(prefix);
}

Result<AbsPath> read_path(const Value& value, const Place& at) {
  static constexpr std::string_view expected = "an absolute path";
  if (!value.is(ValueKind::string)) return at.expected(expected, value);
  if (has_nul(value.string())) return at.expected("a path without a NUL byte", value);
  if (climbs(value.string())) return at.expected("a path without '..'", value, "write the path it leads to");
  HARN_TRY(text, expand_home(value, at));
  if (!looks_absolute(text)) return at.expected(expected, value, "write it from the root, or start it with ~/ or $HOME/");
  HARN_TRY(path, AbsPath::parse(text));
  if (text.size() > max_path_bytes || path.depth() > max_path_components)
    return at.wrong(fmt::format("{} is too long: {} bytes, {} components", at.name(), text.size(), path.depth()),
                    fmt::format("a path has at most {} bytes and {} components", max_path_bytes, max_path_components));
  return path;
}

Value path_schema() {
  Value schema;
  schema.set("type", "string");
  schema.set("pattern", path_pattern);
  return schema;
}

Result<UnixSocket> read_socket(const Value& value, const Place& at) {
  UnixSocket socket;
  if (!value.is(ValueKind::object)) {
    if (!value.is(ValueKind::string)) return at.expected("an absolute path or {path, allow_dangerous}", value);
    HARN_TRY(path, read_path(value, at));
    socket.path = std::move(path);
    return socket;
  }
  bool named = false;
  for (const auto& member : value.object()) {
    const Place inner = at.member(member.name, member.value.mark);
    if (member.name == socket_members[0]) {
      HARN_TRY(path, read_path(member.value, inner));
      socket.path = std::move(path);
      named = true;
    } else if (member.name == socket_members[1]) {
      HARN_TRY(dangerous, Flag::read(member.value, inner));
      socket.allow_dangerous = dangerous;
    } else {
      return at.unknown_member(member, socket_members);
    }
  }
  if (!named) return at.wrong(fmt::format("{} has no 'path'", at.name()), "write {path = \"/run/x.sock\"}");
  return socket;
}

}  // namespace

Result<std::vector<AbsPath>> Paths::read(const Value& value, const Place& at) {
  return read_each<AbsPath>(value, at, "absolute paths", read_path);
}

Value Paths::print(const std::vector<AbsPath>& paths) {
  Array list;
  for (const auto& path : paths) list.emplace_back(path.text());
  return list;
}

Value Paths::schema() { return list_schema(path_schema()); }

Result<std::vector<UnixSocket>> Sockets::read(const Value& value, const Place& at) {
  return read_each<UnixSocket>(value, at, "socket paths", read_socket);
}

Value Sockets::print(const std::vector<UnixSocket>& sockets) {
  Array list;
  for (const auto& socket : sockets) {
    Value entry = socket.path.text();
    if (socket.allow_dangerous) {
      entry = Value();
      entry.set("path", socket.path.text());
      entry.set("allow_dangerous", true);
    }
    list.push_back(std::move(entry));
  }
  return list;
}

Value Sockets::schema() {
  Value properties;
  properties.set("path", path_schema());
  properties.set("allow_dangerous", Flag::schema());
  Value entry;
  entry.set("type", Array{"string", "object"});
  entry.set("pattern", path_pattern);
  entry.set("properties", std::move(properties));
  entry.set("required", Array{"path"});
  entry.set("additionalProperties", false);
  return list_schema(std::move(entry));
}

}  // namespace harn::policy
