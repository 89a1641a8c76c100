// SPDX-License-Identifier: Apache-2.0
// The algebra of host rules. Each host becomes a key in which "admits" is "is a prefix of": labels
// from the right for names, address bits for blocks. One sorted sweep with a stack of enclosing
// keys then answers every question without comparing all pairs.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/host_pattern.h"
#include "policy/hosts.h"

namespace harn::policy {
namespace {

struct Key {
  std::string path = {};  // "norg.example." | "4" or "6" + bits | "x" + text nobody can parse
  bool open = false;      // admits longer keys too: *.suffix and address blocks

  auto operator<=>(const Key&) const = default;
};

bool encloses(const Key& wide, const Key& narrow) {
  if (!wide.open) return wide == narrow;
  // "*.x" and "x" share a path, but "*.x" admits only what lies beneath.
  return narrow.path.starts_with(wide.path) && (narrow.open || narrow.path.size() > wide.path.size());
}

Key key_of(const HostPattern& pattern) {
  if (pattern.kind == HostKind::block) {
    Key key{.path = pattern.block.v6 ? "6" : "4", .open = true};
    for (int bit = 0; bit < pattern.block.length; ++bit)
      key.path += (pattern.block.bits[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8) & 1) != 0 ? '1' : '0';
    return key;
  }
  Key key{.path = "n", .open = pattern.kind == HostKind::subdomains};
  auto labels = base::split(pattern.name, '.');
  std::reverse(labels.begin(), labels.end());
  for (const auto label : labels) (key.path += label) += '.';
  return key;
}

// A rule built by hand may hold text the parser refuses; it then equals only itself.
Key key_of(const std::string& host) {
  const auto pattern = parse_host_pattern(host);
  return pattern ? key_of(*pattern) : Key{.path = "x" + host, .open = false};
}

std::string print_key(const Key& key) {
  const auto rest = std::string_view(key.path).substr(1);
  if (key.path.front() == 'x') return std::string(rest);
  if (key.path.front() == 'n') {
    auto labels = base::split(rest.substr(0, rest.size() - 1), '.');
    std::reverse(labels.begin(), labels.end());
    return fmt::format("{}{}", key.open ? "*." : "", fmt::join(labels, "."));
  }
  IpBlock block{.v6 = key.path.front() == '6', .bits = {}, .length = static_cast<int>(rest.size())};
  for (std::size_t bit = 0; bit < rest.size(); ++bit)
    if (rest[bit] == '1') block.bits[bit / 8] |= static_cast<std::uint8_t>(0x80 >> bit % 8);
  return print_ip(block);
}

struct Ports {
  bool any = false;
  std::set<std::uint16_t> some = {};

  bool empty() const { return !any && some.empty(); }
  bool has(const std::optional<std::uint16_t>& port) const { return any || (port && some.contains(*port)); }
  void add(const Ports& more) {
    any = any || more.any;
    some.insert(more.some.begin(), more.some.end());
  }
  void remove(const Ports& covered) {
    if (covered.any) *this = {};
    else std::erase_if(some, [&](std::uint16_t port) { return covered.some.contains(port); });
  }
};

Ports common(const Ports& a, const Ports& b) {
  if (a.any) return b;
  if (b.any) return a;
  Ports both;
  std::set_intersection(a.some.begin(), a.some.end(), b.some.begin(), b.some.end(), std::inserter(both.some, both.some.end()));
  return both;
}

using HostSet = std::map<Key, Ports>;

HostSet set_of(const std::vector<HostRule>& rules) {
  HostSet set;
  for (const HostRule& rule : rules) {
    Ports& ports = set[key_of(rule.host)];
    if (rule.port) ports.some.insert(*rule.port);
    else ports.any = true;
  }
  return set;
}

// Both halves of a block at a port make the block at that port. Walking backwards meets every key
// after its extensions and before its prefixes, so one pass is enough.
void join_halves(HostSet& set) {
  for (auto it = set.end(); it != set.begin();) {
    --it;
    const std::string& path = it->first.path;
    if (path.front() == 'n' || path.front() == 'x' || path.back() != '0') continue;
    std::string parent = path.substr(0, path.size() - 1);
    const auto sibling = set.find(Key{.path = parent + '1', .open = true});
    if (sibling == set.end()) continue;
    const Ports both = common(it->second, sibling->second);
    if (!both.empty()) set[Key{.path = std::move(parent), .open = true}].add(both);
  }
}

// Visits keys in order with the chain of keys whose path is a prefix of theirs, outermost first.
template <class Entry, class Visit>
void sweep(const std::vector<Entry>& sorted, Visit visit) {
  std::vector<const Entry*> chain;
  for (const Entry& entry : sorted) {
    while (!chain.empty() && !entry.key->path.starts_with(chain.back()->key->path)) chain.pop_back();
    visit(chain, entry);
    chain.push_back(&entry);
  }
}

struct Node {
  const Key* key = nullptr;
  const Ports* ports = nullptr;
  bool first = true;  // which of two sets it came from
};

std::vector<Node> nodes_of(const HostSet& a, const HostSet& b = {}) {
  std::vector<Node> nodes;
  nodes.reserve(a.size() + b.size());
  for (const auto& [key, ports] : a) nodes.push_back({&key, &ports, true});
  for (const auto& [key, ports] : b) nodes.push_back({&key, &ports, false});
  std::sort(nodes.begin(), nodes.end(), [](const Node& x, const Node& y) {
    const auto order = *x.key <=> *y.key;
    return order != 0 ? order < 0 : x.first && !y.first;
  });
  return nodes;
}

std::vector<HostRule> canonical_rules(HostSet set) {
  join_halves(set);
  std::vector<HostRule> rules;
  sweep(nodes_of(set), [&](const std::vector<const Node*>& chain, const Node& node) {
    Ports left = *node.ports;
    if (left.any) left.some.clear();
    for (const Node* outer : chain)
      if (encloses(*outer->key, *node.key)) left.remove(*outer->ports);
    const std::string host = print_key(*node.key);
    if (left.any) rules.push_back({host, std::nullopt});
    for (const std::uint16_t port : left.some) rules.push_back({host, port});
  });
  std::sort(rules.begin(), rules.end());
  return rules;
}

}  // namespace

bool covers(const HostRule& wide, const HostRule& narrow) {
  if (wide.port && wide.port != narrow.port) return false;
  return encloses(key_of(wide.host), key_of(narrow.host));
}

std::vector<HostRule> canonical_hosts(std::vector<HostRule> rules) { return canonical_rules(set_of(rules)); }

std::vector<HostRule> meet_hosts(const std::vector<HostRule>& a, const std::vector<HostRule>& b) {
  const HostSet left = set_of(a);
  const HostSet right = set_of(b);
  HostSet met;
  sweep(nodes_of(left, right), [&](const std::vector<const Node*>& chain, const Node& node) {
    for (const Node* outer : chain) {
      if (outer->first == node.first || !encloses(*outer->key, *node.key)) continue;
      const Ports both = common(*outer->ports, *node.ports);
      if (!both.empty()) met[*node.key].add(both);
    }
  });
  return canonical_rules(std::move(met));
}

std::vector<HostRule> uncovered_hosts(const std::vector<HostRule>& wide, const std::vector<HostRule>& narrow) {
  const HostSet ceiling = set_of(canonical_hosts(wide));
  const HostSet asked = set_of(narrow);
  std::vector<HostRule> left;
  sweep(nodes_of(ceiling, asked), [&](const std::vector<const Node*>& chain, const Node& node) {
    if (node.first) return;
    const auto covered = [&](const std::optional<std::uint16_t>& port) {
      return std::any_of(chain.begin(), chain.end(),
                         [&](const Node* outer) { return outer->first && encloses(*outer->key, *node.key) && outer->ports->has(port); });
    };
    const std::string host = print_key(*node.key);
    if (node.ports->any && !covered(std::nullopt)) left.push_back({host, std::nullopt});
    for (const std::uint16_t port : node.ports->some)
      if (!covered(port)) left.push_back({host, port});
  });
  std::sort(left.begin(), left.end());
  return left;
}

bool admits(const std::vector<HostRule>& rules, std::string_view host, std::uint16_t port) {
  const auto pattern = parse_host_pattern(host);
  const bool single = pattern && pattern->kind != HostKind::subdomains &&
                      (pattern->kind == HostKind::name || pattern->block.length == pattern->block.full_length());
  if (!single) return false;
  const Key wanted = key_of(*pattern);
  return std::any_of(rules.begin(), rules.end(),
                     [&](const HostRule& rule) { return (!rule.port || *rule.port == port) && encloses(key_of(rule.host), wanted); });
}

}  // namespace harn::policy
