// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor/rules.h"

namespace harn::run::supervisor {
namespace {

bool contains(std::string_view place, std::string_view path) {
  if (place.size() == 1) return true;  // the root
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

RuleHead head_at(const char* from) {
  RuleHead head;
  __builtin_memcpy(&head, from, sizeof head);
  return head;
}

}  // namespace

Rules::Rules(const char* block, std::size_t size) {
  RulesHeader header;
  if (size < sizeof header) return;
  __builtin_memcpy(&header, block, sizeof header);
  if (header.bytes != size - sizeof header) return;
  const char* first = block + sizeof header;
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < header.count; ++i) {
    if (header.bytes - at < sizeof(RuleHead)) return;
    const auto head = head_at(first + at);
    at += sizeof head;
    if (head.length == 0 || header.bytes - at < head.length || first[at] != '/' || head.allowed > Allowed::writing) return;
    at += head.length;
  }
  if (at != header.bytes) return;
  first_ = first;
  bytes_ = header.bytes;
}

template <class Visit>
void Rules::each(Visit visit) const {
  for (std::size_t at = 0; at < bytes_;) {
    const auto head = head_at(first_ + at);
    visit(std::string_view(first_ + at + sizeof head, head.length), head.allowed);
    at += sizeof head + head.length;
  }
}

Allowed Rules::at(std::string_view path) const {
  auto nearest = Allowed::nothing;
  each([&](std::string_view place, Allowed allowed) {
    if (contains(place, path)) nearest = allowed;
  });
  return nearest;
}

bool Rules::closed_beneath(std::string_view path) const {
  bool closed = false;
  each([&](std::string_view place, Allowed allowed) {
    if (allowed != Allowed::changing && place.size() > path.size() && contains(path, place)) closed = true;
  });
  return closed;
}

}  // namespace harn::run::supervisor
