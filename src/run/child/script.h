// SPDX-License-Identifier: Apache-2.0
// What a child does between clone and exec, as plain data laid out beforehand. Everything that can
// fail interestingly failed before; the child only replays, and reports the first step that failed.
//
// With a view there are two scripts: the outer one runs as pid 1 of the new namespaces, builds the
// view, starts the inner one and becomes the init program; the inner one narrows itself and becomes
// the command. The same where a supervisor answers for the command, without namespaces. Else there is
// only the inner one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace harn::run::child {

enum class Op : std::uint8_t {
  // life
  close_fd,         // number
  die_with_parent,  // SIGKILL when the thread that started us ends
  check_lifeline,   // number: a pipe whose other end the caller holds; hung up means the caller is gone
  await_word,       // number: a byte must come from there; the end of it is ours
  take_orphans,     // descendants whose parent ended become our children
  hide_launcher,    // the caller's memory is not for others to look at; ours is the same until exec
  reset_signals,    // mask: dispositions the caller changed
  unblock_signals,
  // identity
  write_file,  // text: path, other: what to write
  write_fd,    // number, other: what to write
  new_session,
  new_keyring,    // the caller's keys stay with the caller
  new_group,      // a process group of its own in the caller's session
  take_terminal,  // number: our group becomes the terminal's foreground
  own_terminal,   // number: a terminal nobody has becomes that of our session
  move_fd,        // number → mask (a target below 3), inheritable
  reopen,         // number: a terminal, opened anew as `text` with the flags in mask: through the view, where nobody can change its mode
  // view
  mount_root,       // text: options of a fresh file system that becomes the root
  bind_root,        // text: source; mask: mount attributes
  make_directory,   // text: beneath the new root; mode in mask
  make_file,        // text
  make_link,        // text: target of the link, other: its name
  mount_own,        // text: a directory of the fresh root that becomes a mount of its own; mode in more, attributes in mask
  mount_fresh,      // text: where, other: options of a tmpfs; mask: attributes
  mount_proc,       // text: where; mask: attributes
  mount_terminals,  // text: where; a private devpts
  bind,             // other: source, text: where; mask: attributes
  mount_overlay,    // other: the tree below, pointer: text, a directory with "upper" and "work"; text: where; mask: attributes
  bind_in_own,      // the same, where the directory around `text` is one of ours
  make_hidden,      // the unreadable directory and file that hide_* show; text: in this directory, which is covered
                    // later, or null: before the root, in a place of their own
  hide_directory,   // text; mask: attributes
  hide_file,        // text; mask: attributes
  seal_mount,       // text: the mount there becomes read-only, not what lies beneath
  remount,          // text: the mount there is private and gets the flags in mask, where seal_mount and attributes in steps cannot
  enter_root,       // the old root is gone afterwards
  take_copy,        // other: source, mask: attributes; a mount that stands nowhere yet, number: which one it is
  join_namespace,   // number: its descriptor, mask: its kind
  open_view,        // the root of the view that was joined
  make_way,         // text: a directory in the sealed root, beneath which the next one is made; mask: 1 = it is a file
  place_copy,       // number: which one, text: where
  show_text,        // text: where, other: what a file there reads; number: which one it is; mask: attributes
  raise_loopback,
  ask_netlink,  // number: protocol, pointer: a request, mask: its length; must be granted, unless more is 1 and the family is switched off
  open_gate,    // pointer: calls, mask: how many; all must succeed, and the first answers with a descriptor
  send_gates,   // number: a socket, pointer: what is said about the descriptors opened so far, mask: its length; they are gone afterwards
  // narrowing
  change_directory,   // text
  set_limit,          // number: resource, soft, hard in mask and more
  drop_capabilities,  // number: highest capability
  no_new_privileges,
  landlock_rule,     // number: ruleset, text: path inside the view, mask: rights
  landlock_enforce,  // number: ruleset, mask: flags
  close_others,      // number: first descriptor that must not survive exec
  keep_fd,           // number: survives exec after all
  start_courier,     // number: a socket; before a filter that traps sending, for send_listener
  syscall_filter,    // pointer: struct sock_fprog; mask: seccomp flags
  send_listener,     // number: a socket the supervisor reads from; after a filter with a listener
  // proof
  refuse_open,     // text: path, mask: open flags; must fail
  refuse_open_at,  // number: directory held open from outside, text, mask
  refuse_socket,   // number: family, mask: type
  refuse_signal,   // number: process outside
  refuse_calls,    // pointer: calls, mask: how many; one of them must fail
  // becoming something else
  start_inner,
  start_detached,  // mask: namespaces; the inner script in a process that is nobody's child, ours ends
  become_init,     // number: descriptor of the init program, or of the supervisor
  become_command,
};

// Stands in an argument for what the first call of the same list answered.
inline constexpr std::uintptr_t first_answer = ~std::uintptr_t{0} - 0xffff;

struct Call {
  long number = 0;  // SYS_…
  std::uintptr_t arguments[5] = {};
};

struct Step {
  Op op = Op::close_fd;
  int number = -1;
  std::uint64_t mask = 0;
  std::uint64_t more = 0;
  const char* text = nullptr;
  const char* other = nullptr;
  const void* pointer = nullptr;
};

inline constexpr unsigned most_gates = 64;

// Written by the child, read by the caller after the child has become another program or ended.
struct Report {
  std::int32_t failed_step = -1;
  std::int32_t error = 0;  // errno; 0 with failed_step set: a canary outside could be reached
  std::int32_t inner = 0;  // 1 when the failing step belongs to the inner script
  std::int32_t exec_attempted = 0;
  std::int32_t init_attempted = 0;
};

// A step that is made to fail, so that tests can see each of them fail.
struct Fault {
  std::int32_t step = -1;
  std::int32_t error = 0;  // 0: a canary that is reached
  bool inner = false;
};

struct Script {
  const Step* steps = nullptr;
  std::size_t count = 0;
};

inline constexpr int first_kept_fd = 3;
inline constexpr int max_kept = 10;

// In a register exec does not use: a filter that shows every exec to a supervisor lets this one pass, because
// nobody listens yet (assets/syscalls, OUR_OWN_EXEC).
inline constexpr long own_exec = 0x6861726e;

// A process that sends what the filter no longer lets us send.
struct Courier {
  int post = -1;
  int sender = 0;   // whose listener it is
  int process = 0;  // 0 = there is none
  std::uint32_t ready = 0;
  long result = -5;  // EIO, until it says otherwise
  alignas(16) char stack[8192] = {};
};

// Everything both children need. Lives in memory shared with the caller.
struct Launch {
  Script outer = {};
  Script inner = {};
  char* inner_stack_top = nullptr;
  // become_command: tried in this order until one is found, as a shell would along PATH.
  const char* const* candidates = nullptr;
  std::size_t candidate_count = 0;
  char* const* argv = nullptr;
  char** shell_argv = nullptr;  // for a script without a first line: {"/bin/sh", found, args…}; the child fills `found`
  char* const* envp = nullptr;
  char* const* init_argv = nullptr;
  int kept[max_kept] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};  // what the init program, or the supervisor, keeps from number 3 on
  int kept_count = 0;
  Courier courier = {};
  int listener_fd = -1;  // what the syscall filter answered
  Report report = {};
  Fault fault = {};
  // Descriptors that come and go while the view is built.
  int root_fd = -1;
  int hidden_fd = -1;
  bool hidden_apart = false;  // on a mount of its own between the old root and the new one
  int gates[most_gates] = {};
  unsigned gate_count = 0;
  int detached_pid = -1;
  int starter = 0;      // start_inner: who started the inner one, as that sees it
  int program_fd = -1;  // become_command: this program, instead of looking for one
};

// Never return. Both have the shape clone() wants.
int replay_outer(void* launch) noexcept;
int replay_inner(void* launch) noexcept;

}  // namespace harn::run::child
