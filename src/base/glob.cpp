// SPDX-License-Identifier: Apache-2.0
// Braces are expanded into branches, branches into components. Both levels match with the same
// loop, which only ever returns to the last star and so cannot blow up.
#include "base/glob.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/glob_tokens.h"
#include "base/text.h"

namespace harn::base {
namespace {

using Tokens = std::vector<GlobToken>;
using Sequence = std::vector<const GlobToken*>;
using Sequences = std::vector<Sequence>;

class Expansion {
 public:
  Expansion(std::string_view glob, const Tokens& tokens) : glob_(glob), at_(tokens.begin()), end_(tokens.end()) {}

  // Up to the end, or to the ',' or '}' that ends an alternative. Nesting is bounded by the tokenizer.
  Result<Sequences> alternative() {
    Sequences branches{Sequence{}};
    while (at_ != end_ && at_->kind != GlobToken::Kind::comma && at_->kind != GlobToken::Kind::close) {
      if (at_->kind == GlobToken::Kind::open) {
        HARN_TRY(choices, braces());
        HARN_OK(multiply(branches, choices));
        continue;
      }
      for (Sequence& branch : branches) branch.push_back(&*at_);
      ++at_;
    }
    return branches;
  }

 private:
  Result<Sequences> braces() {
    Sequences choices;
    while (at_->kind != GlobToken::Kind::close) {
      ++at_;
      HARN_TRY(branches, alternative());
      choices.insert(choices.end(), branches.begin(), branches.end());
      HARN_OK(check_count(choices.size()));
    }
    ++at_;
    return choices;
  }

  Status multiply(Sequences& branches, const Sequences& choices) const {
    HARN_OK(check_count(branches.size() * choices.size()));
    Sequences product;
    for (const Sequence& branch : branches)
      for (const Sequence& choice : choices) {
        product.push_back(branch);
        product.back().insert(product.back().end(), choice.begin(), choice.end());
      }
    branches = std::move(product);
    return {};
  }

  Status check_count(std::size_t count) const {
    if (count <= max_glob_branches) return {};
    return bad_glob(glob_, fmt::format("stands for more than {} paths", max_glob_branches), "write several globs with fewer braces");
  }

  std::string_view glob_;
  Tokens::const_iterator at_;
  Tokens::const_iterator end_;
};

Result<Glob::Component> build_component(std::string_view glob, std::span<const GlobToken* const> tokens) {
  Glob::Component component;
  for (const GlobToken* token : tokens) {
    if (token->kind == GlobToken::Kind::any_depth && tokens.size() > 1)
      return bad_glob(glob, fmt::format("has a '**' beside other text at character {}", token->position),
                      "'**' stands alone between slashes; inside a name write '*'");
    component.any_depth = token->kind == GlobToken::Kind::any_depth;
    component.literal = component.literal && token->kind == GlobToken::Kind::atom && token->atom.kind == Glob::Atom::Kind::literal;
    component.text += token->text;
    component.plain += token->plain;
    component.atoms.push_back(token->atom);
  }
  if (component.literal && component.plain == "..")
    return bad_glob(glob, fmt::format("has a '..' at character {}", tokens.front()->position), "write the path it leads to");
  return component;
}

Result<Glob::Branch> build_branch(std::string_view glob, const Sequence& sequence) {
  const auto is_slash = [](const GlobToken* token) { return token->kind == GlobToken::Kind::slash; };
  if (sequence.empty()) return bad_glob(glob, "has a branch that is empty", "write '.' for the directory itself");
  Glob::Branch branch{.absolute = is_slash(sequence.front()), .components = {}};
  for (auto from = sequence.begin(); from != sequence.end();) {
    const auto to = std::find_if(from, sequence.end(), is_slash);
    HARN_TRY(component, build_component(glob, {from, to}));
    const bool dot = component.literal && (component.plain.empty() || component.plain == ".");
    const bool repeated = component.any_depth && !branch.components.empty() && branch.components.back().any_depth;
    if (!dot && !repeated) branch.components.push_back(std::move(component));
    from = to == sequence.end() ? to : to + 1;
  }
  return branch;
}

// Wildcard matching that remembers only the last star: a later star makes every earlier choice moot.
template <class Pattern, class Text, class IsStar, class Same>
bool match(const Pattern& pattern, const Text& text, IsStar is_star, Same same) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = pattern.size();
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && is_star(pattern[p])) {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && same(pattern[p], text[t])) {
      ++p;
      ++t;
    } else if (star < pattern.size()) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && is_star(pattern[p])) ++p;
  return p == pattern.size();
}

bool matches_character(const Glob::Atom& atom, char32_t c) {
  if (atom.kind == Glob::Atom::Kind::any) return true;
  const bool inside =
      std::any_of(atom.ranges.begin(), atom.ranges.end(), [c](const auto& range) { return range.first <= c && c <= range.second; });
  return inside != atom.negated;
}

bool matches_name(const Glob::Component& component, const std::u32string& name) {
  if (component.any_depth) return false;
  return match(component.atoms, name, [](const Glob::Atom& atom) { return atom.kind == Glob::Atom::Kind::star; }, matches_character);
}

std::string joined(std::span<const Glob::Component> components, std::string Glob::Component::* text) {
  std::string out;
  for (const Glob::Component& component : components) {
    if (!out.empty()) out += '/';
    out += component.*text;
  }
  return out;
}

}  // namespace

Result<Glob> Glob::compile(std::string_view text) {
  HARN_TRY(tokens, tokenize_glob(text));
  HARN_TRY(sequences, Expansion(text, tokens).alternative());
  Glob glob;
  for (const Sequence& sequence : sequences) {
    HARN_TRY(branch, build_branch(text, sequence));
    glob.branches_.push_back(std::move(branch));
  }
  return glob;
}

bool Glob::matches(std::string_view path) const {
  std::vector<std::u32string> names;
  for (const auto name : split(path, '/'))
    if (!name.empty()) names.push_back(decode_path(name));
  const bool absolute = path.starts_with('/');
  return std::any_of(branches_.begin(), branches_.end(), [&](const Branch& branch) {
    return branch.absolute == absolute && match(branch.components, names, [](const Component& c) { return c.any_depth; }, matches_name);
  });
}

std::vector<GlobPrefix> Glob::prefixes() const {
  std::vector<GlobPrefix> prefixes;
  for (const Branch& branch : branches_) {
    const auto wild = std::find_if(branch.components.begin(), branch.components.end(), [](const Component& c) { return !c.literal; });
    std::string literal = branch.absolute ? "/" : "";
    literal += joined({branch.components.begin(), wild}, &Component::plain);
    prefixes.push_back({.literal = std::move(literal), .remainder = joined({wild, branch.components.end()}, &Component::text)});
  }
  std::sort(prefixes.begin(), prefixes.end());
  prefixes.erase(std::unique(prefixes.begin(), prefixes.end()), prefixes.end());
  return prefixes;
}

std::string glob_escape(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (std::string_view("*?[]{}\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace harn::base
