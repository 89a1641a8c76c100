// SPDX-License-Identifier: Apache-2.0
// See argument_boxes.h. Every operation is exact; nothing here rounds.
#include "plan/syscalls/argument_boxes.h"

#include <utility>

namespace harn::plan {
namespace {

// How the values under a mask stand to a bound: the first bit that differs, from the top, decides.
struct Comparison {
  std::vector<ArgumentCube> less = {};
  std::vector<ArgumentCube> equal = {};  // none where the bound has bits outside the mask
  std::vector<ArgumentCube> greater = {};
};

Comparison compare_with(std::uint64_t mask, std::uint64_t bound) {
  Comparison result;
  ArgumentCube same;  // values that agree with the bound so far
  for (std::uint64_t bit = std::uint64_t{1} << 63; bit != 0; bit >>= 1) {
    const bool wanted = (bound & bit) != 0;
    if ((mask & bit) == 0) {
      if (!wanted) continue;
      result.less.push_back(same);  // the bit is masked off, hence 0, and the bound has 1
      return result;
    }
    same.mask |= bit;
    (wanted ? result.less : result.greater).push_back({.mask = same.mask, .value = wanted ? same.value : same.value | bit});
    if (wanted) same.value |= bit;
  }
  result.equal.push_back(same);
  return result;
}

std::vector<ArgumentCube> joined(std::vector<ArgumentCube> left, const std::vector<ArgumentCube>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::vector<ArgumentCube> cubes_where(const ArgumentTest& test) {
  Comparison sides = compare_with(test.mask, test.value);
  switch (test.compare) {
    case Compare::equal: return std::move(sides.equal);
    case Compare::not_equal: return joined(std::move(sides.less), sides.greater);
    case Compare::less: return std::move(sides.less);
    case Compare::less_equal: return joined(std::move(sides.less), sides.equal);
    case Compare::greater: return std::move(sides.greater);
    case Compare::greater_equal: return joined(std::move(sides.greater), sides.equal);
  }
  return {};
}

bool disjoint(const ArgumentCube& left, const ArgumentCube& right) { return ((left.value ^ right.value) & left.mask & right.mask) != 0; }

std::optional<ArgumentBox> intersect(const ArgumentBox& left, const ArgumentBox& right) {
  ArgumentBox both;
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (disjoint(left[i], right[i])) return std::nullopt;
    both[i] = {.mask = left[i].mask | right[i].mask, .value = left[i].value | right[i].value};
  }
  return both;
}

// Appends `from` without `taken`: one box per bit in which a call can differ from `taken`. Upper bits
// go first because values taken away one after another mostly agree there.
void append_difference(ArgumentBox from, const ArgumentBox& taken, ArgumentBoxes& out) {
  if (!intersect(from, taken)) return out.push_back(from);
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::uint64_t bit = std::uint64_t{1} << 63; bit != 0; bit >>= 1) {
      if ((taken[i].mask & ~from[i].mask & bit) == 0) continue;
      from[i].mask |= bit;
      from[i].value |= ~taken[i].value & bit;
      out.push_back(from);
      from[i].value ^= bit;
    }
  }
}

}  // namespace

std::optional<ArgumentBoxes> intersect_boxes(const ArgumentBoxes& left, const ArgumentBoxes& right) {
  ArgumentBoxes both;
  for (const ArgumentBox& a : left)
    for (const ArgumentBox& b : right) {
      if (const auto box = intersect(a, b)) both.push_back(*box);
      if (both.size() > max_argument_boxes) return std::nullopt;
    }
  return both;
}

std::optional<ArgumentBoxes> subtract_boxes(const ArgumentBoxes& from, const ArgumentBoxes& taken) {
  ArgumentBoxes left = from;
  for (const ArgumentBox& minus : taken) {
    ArgumentBoxes next;
    for (const ArgumentBox& box : left) append_difference(box, minus, next);
    if (next.size() > max_argument_boxes) return std::nullopt;
    left = std::move(next);
  }
  return left;
}

std::optional<ArgumentBoxes> boxes_where(std::span<const ArgumentTest> tests) {
  ArgumentBoxes boxes{ArgumentBox{}};
  for (const ArgumentTest& test : tests) {
    ArgumentBoxes of_test;
    for (const ArgumentCube& cube : cubes_where(test)) of_test.emplace_back()[test.index] = cube;
    auto both = intersect_boxes(boxes, of_test);
    if (!both) return std::nullopt;
    boxes = std::move(*both);
  }
  return boxes;
}

}  // namespace harn::plan
