// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "prove/mechanisms.h"

namespace harn::prove {
namespace {

std::string wrapper_remedy(const std::string& name) {
  if (name == "bubblewrap") return "it needs user namespaces as the view does, or a setuid bwrap";
  return "check that firejail is installed setuid root, and that /etc/firejail/firejail.config does not forbid its use";
}

}  // namespace

Finding prove_wrapper(const ProvingGround& ground, const std::string& name, const LinuxFacts& facts, Tool& tool) {
  Finding finding{.mechanism = name};
  const bool started = name == "bubblewrap" || name == "firejail";
  if (!started) {
    tool.works = false;
    finding.why_not = tool.why_not = "it is tried when named, with --backend";
    return finding;
  }
  const auto status = ground.run_small(facts, name == "bubblewrap" ? Backend::bubblewrap : Backend::firejail);
  tool.works = finding.works = status.has_value();
  tool.why_not = finding.why_not = status ? "" : status.error().message;
  if (status)
    finding.how = fmt::format("a command under {} ran, wrote in its workspace, and could not read a file outside", tool.path.text());
  else finding.remedy = wrapper_remedy(name);
  return finding;
}

}  // namespace harn::prove
