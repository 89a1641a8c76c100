// SPDX-License-Identifier: Apache-2.0
// Sets of system call arguments as unions of boxes. Container profiles know no order of rules and no
// "unless", only alternatives of masked equalities; a box is exactly one such alternative.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harn/plan.h"

namespace harn::plan {

// All values of one argument whose bits under `mask` are those of `value`.
struct ArgumentCube {
  std::uint64_t mask = 0;
  std::uint64_t value = 0;

  auto operator<=>(const ArgumentCube&) const = default;
};

// All calls whose six arguments lie in these cubes. The default box holds every call.
using ArgumentBox = std::array<ArgumentCube, 6>;
using ArgumentBoxes = std::vector<ArgumentBox>;  // disjoint

// A set that needs more boxes than this is not worth writing down; the functions then give nothing.
inline constexpr std::size_t max_argument_boxes = 512;

// The calls for which all tests hold.
std::optional<ArgumentBoxes> boxes_where(std::span<const ArgumentTest> tests);

std::optional<ArgumentBoxes> intersect_boxes(const ArgumentBoxes& left, const ArgumentBoxes& right);
std::optional<ArgumentBoxes> subtract_boxes(const ArgumentBoxes& from, const ArgumentBoxes& taken);

}  // namespace harn::plan
