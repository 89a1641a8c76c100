// SPDX-License-Identifier: Apache-2.0
// Mount attributes on kernels before 5.12, and where mount_setattr is filtered: the child cannot set them for a
// whole tree before it is attached, so every mount of it is remounted by name afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harn/path.h"
#include "run/script_writer.h"
#include "sys/mount_table.h"

namespace harn::run {

class LateAttributes {
 public:
  // Asks the kernel whether this is needed at all, and reads this process's mounts if so.
  LateAttributes();

  bool needed() const { return needed_; }
  // What is mounted at `target` of the view and shows `source` gets `attributes` (MOUNT_ATTR_…), and so does every
  // mount beneath. An empty source is a place of our own.
  void add(ScriptWriter& writer, const AbsPath& target, const std::string& source, std::uint64_t attributes) const;

 private:
  bool needed_ = false;
  std::vector<sys::Mount> mounts_ = {};
};

}  // namespace harn::run
