// SPDX-License-Identifier: Apache-2.0
// Lexical paths only; nothing here asks a file system.
#include "harn/path.h"

#include <algorithm>
#include <cstdlib>

#include "base/path_order.h"
#include "base/text.h"

namespace harn {
namespace {

bool is_drive(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  return text.size() >= 2 && letter(text[0]) && text[1] == ':' && (text.size() == 2 || text[2] == '/' || text[2] == '\\');
}

// "C:/" or "/": what no ".." climbs above.
std::string root_of(std::string_view text) {
  if (!is_drive(text)) return "/";
  const char letter = text[0];
  return std::string(1, letter >= 'a' ? static_cast<char>(letter - 'a' + 'A') : letter) + ":/";
}

// True when normalising would change nothing, which is nearly always: no empty, "." or ".." component.
bool is_normal(std::string_view relative) {
  if (relative.empty()) return false;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= relative.size(); ++i) {
    if (i != relative.size() && relative[i] != '/') continue;
    const auto part = relative.substr(start, i - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = i + 1;
  }
  return true;
}

void append_component(std::string& out, std::size_t root_size, std::string_view part) {
  if (part.empty() || part == ".") return;
  if (part == "..") {
    const auto cut = out.rfind('/');
    out.resize(std::max(root_size, cut == std::string::npos ? 0 : cut));
    return;
  }
  if (out.size() > root_size) out += '/';
  out += part;
}

}  // namespace

bool looks_absolute(std::string_view text) { return text.starts_with('/') || is_drive(text); }

Result<AbsPath> AbsPath::parse(std::string_view text) {
  const auto wrong = [&](std::string message, std::string hint) {
    return fail(Error{.code = ErrorCode::invalid_policy, .stage = Stage::parse, .message = std::move(message), .hint = std::move(hint)});
  };
  if (text.empty()) return wrong("the path is empty", "write an absolute path");
  if (text.find('\0') != std::string_view::npos) return wrong("the path " + base::quoted(text) + " contains a NUL byte", "remove it");
  if (!looks_absolute(text)) return wrong("the path " + base::quoted(text) + " is not absolute", "write it from the root, or with ~/");

  if (text.front() == '/' && is_normal(text.substr(1))) return AbsPath(std::string(text));
  std::string flat(text);
  const bool drive = is_drive(flat);
  if (drive) std::replace(flat.begin(), flat.end(), '\\', '/');
  std::string out = root_of(flat);
  const auto root_size = out.size();
  for (const auto part : base::split(std::string_view(flat).substr(drive ? 2 : 0), '/')) append_component(out, root_size, part);
  return AbsPath(std::move(out));
}

AbsPath AbsPath::of(std::string_view text) {
  auto path = parse(text);
  if (!path) std::abort();
  return std::move(*path);
}

bool AbsPath::is_root() const { return text_.back() == '/'; }

AbsPath AbsPath::parent() const {
  if (is_root()) return *this;
  const auto cut = text_.rfind('/');
  const auto root_size = text_.front() == '/' ? std::size_t{1} : std::size_t{3};
  return AbsPath(text_.substr(0, std::max(cut, root_size)));
}

std::string_view AbsPath::name() const {
  if (is_root()) return {};
  return std::string_view(text_).substr(text_.rfind('/') + 1);
}

std::size_t AbsPath::depth() const {
  const auto slashes = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '/'));
  return is_root() ? slashes - 1 : slashes;
}

AbsPath AbsPath::join(std::string_view relative) const {
  std::string out;
  out.reserve(text_.size() + relative.size() + 1);
  out = text_;
  if (is_normal(relative)) {
    if (!is_root()) out += '/';
    return AbsPath(std::move(out += relative));
  }
  // A join never leaves this directory: ".." folds at most back to it.
  const auto floor = out.size();
  const bool rooted = is_root();
  for (const auto part : base::split(relative, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      const auto cut = out.rfind('/');
      out.resize(std::max(floor, cut));
      continue;
    }
    if (!(rooted && out.size() == floor)) out += '/';
    out += part;
  }
  return AbsPath(std::move(out));
}

bool AbsPath::contains(const AbsPath& other) const { return base::path_contains(text_, other.text_); }

std::string_view AbsPath::below(const AbsPath& other) const {
  if (!contains(other) || other.text_.size() == text_.size()) return {};
  return std::string_view(other.text_).substr(text_.size() + (is_root() ? 0 : 1));
}

std::strong_ordering AbsPath::operator<=>(const AbsPath& other) const { return base::path_order(text_, other.text_); }

}  // namespace harn
