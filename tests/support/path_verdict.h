// SPDX-License-Identifier: Apache-2.0
// What a model of a mechanism says about one path, in the terms of decide().
#pragma once

namespace harn::test {

struct PathVerdict {
  bool read = false;
  bool write = false;
  bool remove = false;

  bool operator==(const PathVerdict&) const = default;
};

}  // namespace harn::test
