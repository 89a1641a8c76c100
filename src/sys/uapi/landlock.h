// SPDX-License-Identifier: Apache-2.0
// The kernel's Landlock interface, up to ABI 9. Distribution headers lag years behind the kernels
// their programs run on (bookworm's stop at ABI 2), so the constants are our own; each says since when.
#pragma once

#include <cstdint>

namespace harn::sys::uapi {

// System call numbers, the same on every architecture (Linux 5.13, ABI 1).
inline constexpr long landlock_create_ruleset_number = 444;
inline constexpr long landlock_add_rule_number = 445;
inline constexpr long landlock_restrict_self_number = 446;

// Grew with the kernel: pass only as many bytes as the ABI knows (8 below ABI 4, 16 below ABI 6).
struct LandlockRulesetAttr {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;  // Linux 6.7, ABI 4
  std::uint64_t scoped = 0;              // Linux 6.12, ABI 6
};

// Packed in the kernel's header: 12 bytes, not 16.
struct [[gnu::packed]] LandlockPathBeneathAttr {
  std::uint64_t allowed_access = 0;
  std::int32_t parent_fd = -1;
};

struct LandlockNetPortAttr {  // Linux 6.7, ABI 4
  std::uint64_t allowed_access = 0;
  std::uint64_t port = 0;
};

// Rule types of landlock_add_rule.
inline constexpr unsigned landlock_rule_path_beneath = 1;  // Linux 5.13, ABI 1
inline constexpr unsigned landlock_rule_net_port = 2;      // Linux 6.7, ABI 4

// Flags of landlock_create_ruleset.
inline constexpr unsigned landlock_create_ruleset_version = 1u << 0;  // Linux 5.13, ABI 1
inline constexpr unsigned landlock_create_ruleset_errata = 1u << 1;   // Linux 6.15, ABI 7

// Flags of landlock_restrict_self.
inline constexpr unsigned landlock_restrict_self_log_same_exec_off = 1u << 0;   // Linux 6.15, ABI 7
inline constexpr unsigned landlock_restrict_self_log_new_exec_on = 1u << 1;     // Linux 6.15, ABI 7
inline constexpr unsigned landlock_restrict_self_log_subdomains_off = 1u << 2;  // Linux 6.15, ABI 7
inline constexpr unsigned landlock_restrict_self_tsync = 1u << 3;               // Linux 7.0, ABI 8

// File system rights. What is not handled stays allowed; what is handled needs a rule.
inline constexpr std::uint64_t landlock_fs_execute = 1ull << 0;  // Linux 5.13, ABI 1
inline constexpr std::uint64_t landlock_fs_write_file = 1ull << 1;
inline constexpr std::uint64_t landlock_fs_read_file = 1ull << 2;
inline constexpr std::uint64_t landlock_fs_read_dir = 1ull << 3;
inline constexpr std::uint64_t landlock_fs_remove_dir = 1ull << 4;
inline constexpr std::uint64_t landlock_fs_remove_file = 1ull << 5;
inline constexpr std::uint64_t landlock_fs_make_char = 1ull << 6;
inline constexpr std::uint64_t landlock_fs_make_dir = 1ull << 7;
inline constexpr std::uint64_t landlock_fs_make_reg = 1ull << 8;
inline constexpr std::uint64_t landlock_fs_make_sock = 1ull << 9;
inline constexpr std::uint64_t landlock_fs_make_fifo = 1ull << 10;
inline constexpr std::uint64_t landlock_fs_make_block = 1ull << 11;
inline constexpr std::uint64_t landlock_fs_make_sym = 1ull << 12;
inline constexpr std::uint64_t landlock_fs_refer = 1ull << 13;         // Linux 5.19, ABI 2; denied by every ruleset before
inline constexpr std::uint64_t landlock_fs_truncate = 1ull << 14;      // Linux 6.2, ABI 3
inline constexpr std::uint64_t landlock_fs_ioctl_dev = 1ull << 15;     // Linux 6.10, ABI 5
inline constexpr std::uint64_t landlock_fs_resolve_unix = 1ull << 16;  // Linux 7.1, ABI 9: connect to path sockets

// Network rights: TCP only; UDP is untouched.
inline constexpr std::uint64_t landlock_net_bind_tcp = 1ull << 0;     // Linux 6.7, ABI 4
inline constexpr std::uint64_t landlock_net_connect_tcp = 1ull << 1;  // Linux 6.7, ABI 4

// Scopes: no rule lifts them.
inline constexpr std::uint64_t landlock_scope_abstract_unix_socket = 1ull << 0;  // Linux 6.12, ABI 6
inline constexpr std::uint64_t landlock_scope_signal = 1ull << 1;                // Linux 6.12, ABI 6

}  // namespace harn::sys::uapi
