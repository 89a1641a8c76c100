// SPDX-License-Identifier: Apache-2.0
// What a SyscallFilter means, told in the plainest way: look up the name of the number, try the rules
// in order. Every translation of a filter is compared with this. Also makes filters and calls to try.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "harn/plan.h"
#include "support/bpf_machine.h"
#include "support/random.h"

namespace harn::test {

inline constexpr std::uint32_t kill_process = 0x80000000;
inline constexpr std::uint32_t notify = 0x7fc00000;
inline constexpr std::uint32_t allow = 0x7fff0000;
constexpr std::uint32_t fails_with(int error) { return 0x00050000U | static_cast<std::uint32_t>(error); }

std::uint32_t audit_architecture(std::string_view arch);

std::optional<std::uint32_t> number_of(std::string_view name, std::string_view arch);

// The verdict (SECCOMP_RET_*) of the filter for this call.
std::uint32_t meaning(const SyscallFilter& filter, const SyscallEvent& event);

// A filter with conditions of every kind; values are chosen so that rules often overlap.
SyscallFilter random_filter(Random& random, std::string_view arch);

// Arguments near what the filter's conditions on this number ask for: equal, off by one bit, with
// bits outside the mask or in the high half.
SyscallEvent random_event(Random& random, const SyscallFilter& filter, std::uint32_t number);

}  // namespace harn::test
