// SPDX-License-Identifier: Apache-2.0
// The view as child steps.
#pragma once

#include <map>
#include <string>

#include "harn/plan.h"
#include "run/script_writer.h"

namespace harn::run {

// Namespaces as clone flags; not_supported for a name this build does not know.
Result<std::uint64_t> namespace_flags(const View& view);

// Identity inside the new user namespace: the caller stays who it is, and makes no further one.
void write_identity(ScriptWriter& writer, std::uint32_t uid, std::uint32_t gid);

// `terminal`: the caller's, shown as /dev/console; empty = none.
void write_view(ScriptWriter& writer, const View& view, const std::string& terminal);

// Which places the view makes, so that only the child can name them.
class ViewPlaces {
 public:
  explicit ViewPlaces(const View& view);
  bool made_by_view(const AbsPath& path) const;

 private:
  std::map<std::string, MountOp, std::less<>> steps_ = {};
};

}  // namespace harn::run
