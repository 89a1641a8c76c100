// SPDX-License-Identifier: Apache-2.0
// What an attack is pointed at: "name=value" words on its command line.
#pragma once

#include <charconv>
#include <map>
#include <string>
#include <string_view>

namespace harn::doctor {

class Targets {
 public:
  // An empty text where it was not given: every use of it fails, and is told apart by `complete`.
  const char* text(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) complete_ = false;
    return found == values_.end() ? "" : found->second.c_str();
  }
  long number(std::string_view name) const {
    const std::string_view digits = text(name);
    long value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) complete_ = false;
    return value;
  }
  // Of the attacking process itself.
  std::string own_variable(const std::string& name) const {
    if (environment == nullptr) return {};
    const auto found = environment->find(name);
    return found == environment->end() ? std::string() : found->second;
  }
  void set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }
  bool has(std::string_view name) const { return values_.contains(name); }
  bool complete() const { return complete_; }
  const std::map<std::string, std::string, std::less<>>& values() const { return values_; }

  const std::map<std::string, std::string>* environment = nullptr;

 private:
  std::map<std::string, std::string, std::less<>> values_ = {};
  mutable bool complete_ = true;
};

}  // namespace harn::doctor
