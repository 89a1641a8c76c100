// SPDX-License-Identifier: Apache-2.0
// What the running Linux kernel offers to this user.
#pragma once

#include "harn/host.h"

namespace harn::host {

// Where the kernel shows its settings; tests show their own.
struct KernelFiles {
  AbsPath proc = AbsPath::of("/proc");
};

// Release and machine alone.
LinuxFacts kernel_name();

LinuxFacts kernel_facts(std::uint32_t uid, const KernelFiles& files = {});

struct NamespaceVerdict {
  bool usable = false;
  std::string why_not = {};

  bool operator==(const NamespaceVerdict&) const = default;
};

// Whether this user may make user namespaces, by the kernel's switches. The switches are a claim; a
// child that really tries is the proof, and takes this function's place where one may be started.
NamespaceVerdict judge_user_namespaces(std::uint32_t uid, const KernelFiles& files);

}  // namespace harn::host
