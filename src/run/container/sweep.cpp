// SPDX-License-Identifier: Apache-2.0
// Containers whose harn was killed. A label alone proves nothing, because an image can carry any: the
// name must be the one that harn gave, and its owner must be gone.
#include <fmt/format.h>

#include "base/text.h"
#include "run/container/container.h"
#include "run/container/owner.h"

namespace harn::run {
namespace {

bool is_left_behind(const EngineClient& client, const std::string& id) {
  const auto answer = ask(
      client, {"inspect", "--type", "container", "--format",
               "{{println .Name}}{{println (index .Config.Labels \"harn.run\")}}{{println (index .Config.Labels \"harn.owner\")}}", id});
  if (!answer || !answer->ok()) return false;
  const auto lines = base::split(answer->out, '\n');
  if (lines.size() < 3) return false;
  auto name = lines[0];
  if (name.starts_with('/')) name.remove_prefix(1);
  return !lines[1].empty() && name == fmt::format("harn-{}", lines[1]) && owner_is_gone(lines[2]);
}

}  // namespace

void sweep_containers(const EngineClient& client) {
  const auto answer = ask(client, {"ps", "--all", "--no-trunc", "--quiet", "--filter", "label=harn.owner"});
  if (!answer || !answer->ok()) return;
  for (const auto line : base::split(answer->out, '\n')) {
    const std::string id(base::trim(line));
    if (!id.empty() && is_left_behind(client, id)) order(client, {"rm", "--force", "--volumes", id});
  }
}

}  // namespace harn::run
