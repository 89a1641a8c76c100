// SPDX-License-Identifier: Apache-2.0
// The shape of the tables tools/embed-syscalls makes from assets/syscalls, and the few questions
// asked of them. The tables themselves are seen only by syscalls.cpp and by tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "harn/plan.h"

namespace harn::plan {

inline constexpr std::size_t architecture_count = 3;

struct SyscallNumber {
  std::string_view name = {};
  std::array<std::int16_t, architecture_count> number = {};  // -1: this architecture lacks the call
};

// What a group can depend on; see SyscallOptions.
enum class Fact : std::uint8_t {
  always,
  sockets,
  inet,
  host_network,
  interfaces,
  unix_full,
  private_ipc,
  private_pids,
  metadata,
  truncation_checked,
  root,
  supervised,
  supervised_reads,
  supervised_metadata,
  supervised_binds,
  supervised_sockets,
  supervised_datagrams,
  supervised_network,
  supervised_signals,
  plain_ioctls,
  unix_datagrams,
  explained,
  explained_sockets,
};

struct SyscallGroup {
  std::string_view name = {};
  std::string_view reason = {};
  Fact fact = Fact::always;
  bool holds = true;  // the group applies when the fact has this value
  SyscallAction action = SyscallAction::allow;
  int error = 0;
  std::span<const std::uint16_t> calls = {};                         // indices into the table of numbers
  std::span<const std::span<const ArgumentTest>> alternatives = {};  // any one suffices; empty = no condition
};

// Column of an architecture as uname -m names it.
std::optional<std::size_t> find_architecture(std::string_view name);

std::optional<std::uint32_t> find_syscall(std::string_view name, std::size_t architecture);

// Its name, or "system call N" is all that can be said: empty.
std::string_view syscall_name(std::uint32_t number, std::size_t architecture);

// The highest number Harn knows for this architecture.
std::uint32_t newest_syscall(std::size_t architecture);

}  // namespace harn::plan
