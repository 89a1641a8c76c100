// SPDX-License-Identifier: Apache-2.0
// Place: where in a policy text the reader stands, and the wording of every error it can report there.
// Places live on the reader's stack and point at their parent, so naming one costs nothing until an
// error needs its name.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "base/value.h"
#include "harn/policy_text.h"

namespace harn::policy {

enum class TextFormat : std::uint8_t {
  toml,
  json
};

class Place {
 public:
  Place(const TextContext& context, TextFormat format, base::Mark mark) : context_(&context), format_(format), mark_(mark) {}

  Place member(std::string_view name, base::Mark mark) const;
  Place entry(std::size_t index, base::Mark mark) const;

  const AbsPath& home() const { return context_->home; }
  std::string name() const;   // 'network.allowed_hosts[2]', or "the policy"
  std::string where() const;  // "policy.toml:3:14", "policy.json:3:14#/network/mode"

  std::unexpected<Error> wrong(std::string message, std::string hint = {}) const;
  // "NAME must be EXPECTED, found VALUE"
  std::unexpected<Error> expected(std::string_view what, const base::Value& found, std::string hint = {}) const;
  std::unexpected<Error> expected_table(const base::Value& found) const;
  std::unexpected<Error> unknown_member(const base::Member& member, std::span<const std::string_view> known) const;
  std::unexpected<Error> unknown_word(std::string_view found, std::span<const std::string_view> known) const;

 private:
  std::string dotted() const;
  std::string pointer() const;

  const TextContext* context_;
  TextFormat format_;
  base::Mark mark_;
  const Place* parent_ = nullptr;
  std::string_view name_ = {};
  std::size_t index_ = 0;
  bool is_entry_ = false;  // known by index_ in a list, not by name_
};

}  // namespace harn::policy
