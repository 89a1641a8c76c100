// SPDX-License-Identifier: Apache-2.0
// Hostile acts, each a function that answers 0 when the act succeeded and otherwise the errno that
// refused it. The same program runs them unconfined and inside, so a refusal means something.
#pragma once

#include <errno.h>

#include <span>
#include <string>
#include <string_view>

namespace probe {

using Args = std::span<const std::string>;

struct Probe {
  std::string_view name = {};
  int (*run)(Args args) = nullptr;
};

using Probes = std::span<const Probe>;

// One table per family of acts.
Probes reading();
Probes writing();
Probes metadata();
Probes network();
Probes unix_sockets();
Probes processes();
Probes signals();
Probes privileges();
Probes mounts();
Probes kernel();
Probes descriptors();
Probes terminal();
Probes races();
Probes storms();
Probes shared_memory();
Probes surroundings();
Probes lawful();

inline int verdict(long result) { return result < 0 ? errno : 0; }

// For calls given arguments that must not do anything even where they are permitted: the error that
// comes after the permission check counts as success.
inline int verdict_past(long result, int harmless) { return result >= 0 || errno == harmless ? 0 : errno; }

// Runs one probe by name in this process.
int run_named(std::string_view name, Args args);

// The process outside that must not notice anything; see victim.cpp.
int be_victim(Args args);

}  // namespace probe
