// SPDX-License-Identifier: Apache-2.0
// Every attack in one table: what it tries, which promise it breaks, what stays possible beside it.
#pragma once

#include <span>
#include <string_view>

#include "doctor/attacks/targets.h"
#include "harn/doctor.h"

namespace harn::doctor {

class AttackGround;

using Inside = int (*)(const Targets& at);

struct Attack {
  std::string_view name = {};
  std::optional<Dimension> dimension = {};
  std::string_view promise = {};
  Inside inside = nullptr;
  std::string_view needs = {};    // targets, by name
  std::string_view twin = {};     // a harmless neighbour
  std::string_view excuses = {};  // codes of the gaps that name this way out
  std::string_view place = {};    // the target a gap's paths must cover; empty = anywhere
  bool rare = false;              // other rules may refuse it to everybody here
  // What it did to the world, where that can be seen; null = its own word is all there is.
  bool (*happened)(const AttackGround& ground) = nullptr;
};

struct Twin {
  std::string_view name = {};
  std::string_view promise = {};
  Inside inside = nullptr;
  std::string_view needs = {};
};

// How an attack ends: exit codes of the process that makes it.
inline constexpr int attack_worked = 0;
inline constexpr int attack_refused = 10;
inline constexpr int attack_broken = 20;

std::span<const Attack> attacks();
std::span<const Twin> twins();

}  // namespace harn::doctor
