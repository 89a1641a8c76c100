// SPDX-License-Identifier: Apache-2.0
#include "plan/macos/sbpl_profile.h"

#include <regex.h>

#include <algorithm>
#include <map>
#include <memory>

namespace harn::plan {
namespace {

using Kind = SbplNode::Kind;

// ---- reading -------------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<std::vector<SbplNode>> all() {
    std::vector<SbplNode> out;
    while (skip(), at_ < text_.size()) {
      auto node = expression();
      if (!node) return std::nullopt;
      out.push_back(std::move(*node));
    }
    return out;
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == ';') at_ = std::min(text_.find('\n', at_), text_.size());
      else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
      else return;
    }
  }

  std::optional<SbplNode> expression() {
    if (text_[at_] == '(') return list();
    if (text_[at_] == '"') return string();
    if (text_[at_] == ')') return std::nullopt;
    const auto end = std::min(text_.find_first_of("()\"; \t\r\n", at_), text_.size());
    SbplNode node{.kind = Kind::symbol, .text = std::string(text_.substr(at_, end - at_))};
    at_ = end;
    return node;
  }

  std::optional<SbplNode> list() {
    SbplNode node;
    for (++at_;;) {
      skip();
      if (at_ >= text_.size()) return std::nullopt;
      if (text_[at_] == ')') return ++at_, node;
      auto item = expression();
      if (!item) return std::nullopt;
      node.items.push_back(std::move(*item));
    }
  }

  std::optional<SbplNode> string() {
    SbplNode node{.kind = Kind::string};
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') return ++at_, node;
      if (c != '\\') {
        node.text += c;
        continue;
      }
      if (!escape(node.text)) return std::nullopt;
    }
    return std::nullopt;
  }

  bool escape(std::string& out) {
    if (++at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (c == 'n') out += '\n';
    else if (c == 't') out += '\t';
    else if (c == 'r') out += '\r';
    else if (c == 'x') return hex(out);
    else out += c;
    return true;
  }

  bool hex(std::string& out) {
    const auto digits = text_.substr(at_ + 1, 2);
    if (digits.size() != 2 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) return false;
    out += static_cast<char>(std::stoi(std::string(digits), nullptr, 16));
    at_ += 2;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// ---- the language --------------------------------------------------------------------------------

// Operations the compiler of every macOS since 12 accepts, as used by the profiles Apple ships in
// /System/Library/Sandbox/Profiles and by the profiles of Chromium and Codex.
constexpr std::string_view operations[] = {
    "default",
    "file-ioctl",
    "file-link",
    "file-map-executable",
    "file-mknod",
    "file-read-data",
    "file-read-metadata",
    "file-read-xattr",
    "file-revoke",
    "file-write-acl",
    "file-write-create",
    "file-write-data",
    "file-write-flags",
    "file-write-mode",
    "file-write-owner",
    "file-write-setugid",
    "file-write-times",
    "file-write-unlink",
    "file-write-xattr",
    "iokit-open",
    "ipc-posix-sem",
    "ipc-posix-shm-read-data",
    "ipc-posix-shm-write-data",
    "job-creation",
    "lsopen",
    "mach-lookup",
    "mach-priv-task-port",
    "mach-register",
    "network-bind",
    "network-inbound",
    "network-outbound",
    "process-exec",
    "process-fork",
    "process-info-listpids",
    "process-info-pidinfo",
    "process-info-setcontrol",
    "signal",
    "sysctl-read",
    "sysctl-write",
    "system-socket",
    "appleevent-send",
    "user-preference-read",
};

bool covers(std::string_view pattern, std::string_view operation) {
  if (pattern == "default") return true;
  if (!pattern.ends_with('*')) return pattern == operation;
  return operation.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool known_operation(std::string_view pattern) {
  return std::any_of(std::begin(operations), std::end(operations), [&](auto operation) { return covers(pattern, operation); });
}

bool beneath(const std::string& root, const std::string& path) {
  if (root == "/") return path.starts_with('/');
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

bool matches_regex(const std::string& pattern, const std::string& path) {
  // Compiled once per process: tests ask thousands of profiles about the same few names.
  struct Compiled {
    explicit Compiled(const std::string& text) { usable = regcomp(&expression, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0; }
    ~Compiled() {
      if (usable) regfree(&expression);
    }
    Compiled(const Compiled&) = delete;
    Compiled& operator=(const Compiled&) = delete;
    regex_t expression = {};
    bool usable = false;
  };
  static std::map<std::string, std::unique_ptr<Compiled>> compiled;
  if (compiled.size() > 4096) compiled.clear();
  auto& entry = compiled[pattern];
  if (!entry) entry = std::make_unique<Compiled>(pattern);
  return entry->usable && regexec(&entry->expression, path.c_str(), 0, nullptr, 0) == 0;
}

// "host:port", each possibly "*"; the only host the language knows by name is localhost.
bool matches_address(const std::string& pattern, const std::string& address) {
  const auto cut = [](const std::string& text) { return text.rfind(':'); };
  if (address.empty()) return false;
  const auto host = pattern.substr(0, cut(pattern));
  const auto port = pattern.substr(cut(pattern) + 1);
  return (host == "*" || host == address.substr(0, cut(address))) && (port == "*" || port == address.substr(cut(address) + 1));
}

bool is_call(const SbplNode& node, std::string_view name, std::size_t size) {
  return node.kind == Kind::list && node.items.size() == size && node.items[0].kind == Kind::symbol && node.items[0].text == name;
}

bool is_call_with_text(const SbplNode& node, std::string_view name) { return is_call(node, name, 2) && node.items[1].kind == Kind::string; }

bool is_end(const SbplNode& node, std::string_view side, std::string_view kind, std::size_t size) {
  return is_call(node, side, size) && node.items[1].kind == Kind::symbol && node.items[1].text == kind;
}

}  // namespace

std::optional<std::vector<SbplNode>> parse_sbpl(std::string_view text) { return Reader(text).all(); }

// Nothing = the filter does not exist in the language.
std::optional<SbplProfile::Filter> SbplProfile::filter_of(const SbplNode& node) {
  static const std::map<std::string_view, Match> by_text = {{"literal", Match::literal},
                                                            {"subpath", Match::subpath},
                                                            {"regex", Match::regex},
                                                            {"global-name", Match::name},
                                                            {"ipc-posix-name", Match::name},
                                                            {"global-name-prefix", Match::name_prefix},
                                                            {"sysctl-name-prefix", Match::name_prefix}};
  for (const auto& [name, match] : by_text)
    if (is_call_with_text(node, name)) return Filter{match, node.items[1].text};
  if (is_call(node, "ioctl-command", 2)) return Filter{Match::ioctl, node.items[1].text};
  if (is_call(node, "socket-domain", 2)) return Filter{Match::socket_domain, node.items[1].text};
  if (is_call(node, "target", 2) && node.items[1].text == "same-sandbox") return Filter{Match::same_sandbox, {}};
  if (is_end(node, "local", "ip", 3)) return Filter{Match::local, node.items[2].text};
  if (is_end(node, "remote", "ip", 3)) return Filter{Match::remote, node.items[2].text};
  if (is_end(node, "remote", "unix-socket", 2)) return Filter{Match::any_socket, {}};
  if (is_end(node, "remote", "unix-socket", 3) && is_call_with_text(node.items[2], "path-literal"))
    return Filter{Match::socket, node.items[2].items[1].text};
  return std::nullopt;
}

bool SbplProfile::matches(const Filter& filter, const SbplAttempt& attempt) {
  switch (filter.match) {
    case Match::literal: return attempt.path == filter.value;
    case Match::subpath: return beneath(filter.value, attempt.path);
    case Match::regex: return matches_regex(filter.value, attempt.path);
    case Match::name: return attempt.name == filter.value;
    case Match::name_prefix: return attempt.name.starts_with(filter.value);
    case Match::ioctl: return attempt.ioctl == filter.value;
    case Match::socket_domain: return attempt.socket_domain == filter.value;
    case Match::same_sandbox: return attempt.same_sandbox;
    case Match::local: return matches_address(filter.value, attempt.local);
    case Match::remote: return matches_address(filter.value, attempt.remote);
    case Match::any_socket: return !attempt.socket.empty();
    case Match::socket: return !attempt.socket.empty() && attempt.socket == filter.value;
  }
  return false;
}

std::optional<SbplProfile::Rule> SbplProfile::rule_of(const SbplNode& node, std::string& problem) {
  const auto wrong = [&](std::string what) { return problem = std::move(what), std::optional<Rule>(); };
  if (node.kind != Kind::list || node.items.size() < 2 || node.items[0].kind != Kind::symbol) return wrong("not a rule");
  Rule rule{.allow = node.items[0].text == "allow"};
  if (!rule.allow && node.items[0].text != "deny") return wrong("neither allow nor deny: " + node.items[0].text);
  for (std::size_t i = 1; i < node.items.size(); ++i) {
    const auto& item = node.items[i];
    if (item.kind == Kind::list) {
      auto filter = filter_of(item);
      if (!filter) return wrong("unknown filter" + (item.items.empty() ? std::string() : " " + item.items[0].text));
      rule.filters.push_back(std::move(*filter));
    } else if (item.kind == Kind::symbol && rule.filters.empty() && known_operation(item.text)) {
      rule.operations.push_back(item.text);
    } else {
      return wrong("unknown operation " + item.text);
    }
  }
  if (rule.operations.empty()) return wrong("a rule without an operation");
  return rule;
}

std::optional<SbplProfile> SbplProfile::parse(std::string_view text, std::string& problem) {
  const auto nodes = parse_sbpl(text);
  if (!nodes) return problem = "not well formed", std::nullopt;
  if (nodes->empty() || !is_call(nodes->front(), "version", 2) || nodes->front().items[1].text != "1")
    return problem = "does not begin with (version 1)", std::nullopt;
  SbplProfile out;
  for (std::size_t i = 1; i < nodes->size(); ++i) {
    auto rule = rule_of((*nodes)[i], problem);
    if (!rule) return std::nullopt;
    out.rules_.push_back(std::move(*rule));
  }
  return out;
}

bool SbplProfile::allows(const SbplAttempt& attempt) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    const auto applies = [&](const std::string& pattern) { return covers(pattern, attempt.operation); };
    if (std::none_of(rule->operations.begin(), rule->operations.end(), applies)) continue;
    const auto matching = [&](const Filter& filter) { return matches(filter, attempt); };
    if (rule->filters.empty() || std::any_of(rule->filters.begin(), rule->filters.end(), matching)) return rule->allow;
  }
  return false;
}

bool SbplProfile::allows(std::string operation, std::string path) const {
  return allows(SbplAttempt{.operation = std::move(operation), .path = std::move(path)});
}

}  // namespace harn::plan
