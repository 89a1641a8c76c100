// SPDX-License-Identifier: Apache-2.0
#include "doctor/attacks/attack_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "doctor/attack_ground.h"
#include "doctor/attacks/inside.h"
#include "sys/files.h"

namespace harn::doctor {
namespace {

constexpr int exit_worked = 0;
constexpr int exit_refused = 10;
constexpr int exit_broken = 20;

using D = Dimension;
using Ground = AttackGround;

constexpr Attack attack_rows[] = {
    {.name = "read_outside", .dimension = D::reads, .promise = "a file outside cannot be read", .inside = read_outside,
     .needs = "secret", .twin = "read_inside"},
    {.name = "list_outside", .dimension = D::reads, .promise = "a directory outside cannot be listed", .inside = list_outside,
     .needs = "outside", .twin = "read_inside"},
    {.name = "link_inside", .dimension = D::reads, .promise = "a file outside cannot be linked inside", .inside = link_inside,
     .needs = "secret own_link", .twin = "write_inside", .happened = [](const Ground& g) { return g.is_there("own_link"); }},
    {.name = "attach_memory", .dimension = D::reads, .promise = "shared memory of others cannot be attached", .inside = attach_memory,
     .needs = "segment", .twin = "run_at_all", .excuses = "no_syscall_filter", .rare = true},
    {.name = "write_outside", .dimension = D::writes, .promise = "a file outside cannot be written", .inside = write_outside,
     .needs = "victim", .twin = "write_inside", .happened = [](const Ground& g) { return g.victim_changed(); }},
    {.name = "create_outside", .dimension = D::writes, .promise = "no file can be made outside", .inside = create_outside,
     .needs = "created", .twin = "write_inside", .happened = [](const Ground& g) { return g.is_there("created"); }},
    {.name = "delete_outside", .dimension = D::writes, .promise = "a file outside cannot be deleted", .inside = delete_outside,
     .needs = "victim", .twin = "write_inside", .happened = [](const Ground& g) { return !g.is_there("victim"); }},
    {.name = "truncate_outside", .dimension = D::writes, .promise = "a file outside cannot be emptied", .inside = truncate_outside,
     .needs = "victim", .twin = "write_inside", .excuses = "truncate_by_path",
     .happened = [](const Ground& g) { return g.victim_changed(); }},
    {.name = "move_outside", .dimension = D::writes, .promise = "no file can be moved outside", .inside = move_outside,
     .needs = "own_link created", .twin = "write_inside", .happened = [](const Ground& g) { return g.is_there("created"); }},
    {.name = "write_protected", .dimension = D::writes, .promise = "a protected name cannot be written", .inside = write_protected,
     .needs = "protected", .twin = "write_inside", .excuses = "nested_read_only protected_link", .place = "protected"},
    {.name = "create_protected", .dimension = D::writes, .promise = "a protected name cannot come into being",
     .inside = create_protected, .needs = "absent", .twin = "write_inside", .excuses = "absent_protected_name", .place = "absent"},
    {.name = "chmod_outside", .dimension = D::metadata, .promise = "the mode of a file outside cannot be changed",
     .inside = chmod_outside, .needs = "victim", .twin = "chmod_inside", .excuses = "metadata_outside",
     .happened = [](const Ground& g) { return g.victim_mode_changed(); }},
    {.name = "touch_outside", .dimension = D::metadata, .promise = "the times of a file outside cannot be changed",
     .inside = touch_outside, .needs = "victim", .twin = "chmod_inside", .excuses = "metadata_outside",
     .happened = [](const Ground& g) { return g.victim_is_old(); }},
    {.name = "read_credential", .dimension = D::credential_reads, .promise = "a credential cannot be opened",
     .inside = read_credential, .needs = "credential", .twin = "read_inside", .excuses = "nested_deny", .place = "credential"},
    {.name = "connect_port", .dimension = D::network, .promise = "a port outside cannot be reached", .inside = connect_port,
     .needs = "port", .twin = "use_socket_pair", .excuses = "no_syscall_filter", .happened = [](const Ground& g) { return g.port_was_reached(); }},
    {.name = "send_datagram", .dimension = D::network, .promise = "no datagram leaves", .inside = send_datagram, .needs = "udp_port",
     .twin = "use_socket_pair", .excuses = "no_syscall_filter udp_not_covered",
     .happened = [](const Ground& g) { return g.datagram_arrived(); }},
    {.name = "connect_abstract", .dimension = D::unix_sockets, .promise = "an abstract socket outside cannot be reached",
     .inside = connect_abstract, .needs = "abstract", .twin = "use_socket_pair", .excuses = "abstract_unix_sockets",
     .happened = [](const Ground& g) { return g.abstract_was_reached(); }},
    {.name = "connect_named", .dimension = D::unix_sockets, .promise = "a named socket outside cannot be reached",
     .inside = connect_named, .needs = "named", .twin = "use_socket_pair", .excuses = "named_unix_sockets", .place = "named",
     .happened = [](const Ground& g) { return g.named_was_reached(); }},
    {.name = "signal_outside", .dimension = D::signals, .promise = "a process outside cannot be signalled", .inside = signal_outside,
     .needs = "pid", .twin = "signal_own_child", .excuses = "signals_outside"},
    {.name = "limit_outside", .dimension = D::signals, .promise = "limits of a process outside cannot be set", .inside = limit_outside,
     .needs = "pid", .twin = "signal_own_child", .excuses = "signals_outside no_syscall_filter"},
    {.name = "see_process", .dimension = D::process_inspection, .promise = "a process outside cannot be seen", .inside = see_process,
     .needs = "pid", .twin = "read_own_process", .excuses = "process_listing"},
    {.name = "read_environment", .dimension = D::process_inspection, .promise = "the environment of a process outside cannot be read",
     .inside = read_environment, .needs = "pid", .twin = "read_own_process", .rare = true},
    {.name = "trace_outside", .dimension = D::process_inspection, .promise = "a process outside cannot be traced",
     .inside = trace_outside, .needs = "pid", .twin = "signal_own_child", .rare = true},
    {.name = "read_memory", .dimension = D::process_inspection, .promise = "the memory of a process outside cannot be read",
     .inside = read_memory, .needs = "pid address", .twin = "signal_own_child", .rare = true},
    {.name = "take_descriptor", .dimension = D::process_inspection, .promise = "no descriptor of a process outside can be taken",
     .inside = take_descriptor, .needs = "pid held", .twin = "signal_own_child", .rare = true},
    {.name = "open_raw_device", .dimension = D::devices, .promise = "a raw device cannot be opened", .inside = open_raw_device,
     .needs = "device", .twin = "run_at_all", .rare = true},
    {.name = "push_input", .dimension = D::devices, .promise = "input cannot be pushed into a terminal", .inside = push_input,
     .twin = "run_at_all", .excuses = "device_ioctl terminal_input", .rare = true},
    {.name = "find_secret", .dimension = D::env, .promise = "a variable that looks secret does not pass", .inside = find_secret,
     .needs = "secret_name", .twin = "find_variable"},
    {.name = "gain_privileges", .promise = "no program can give it more rights", .inside = gain_privileges, .twin = "run_at_all", .rare = true},
    {.name = "hold_capabilities", .promise = "it has no capabilities", .inside = hold_capabilities, .twin = "run_at_all", .rare = true},
    {.name = "make_namespaces", .promise = "it cannot make namespaces", .inside = make_namespaces, .twin = "run_at_all",
     .excuses = "no_syscall_filter", .rare = true},
    {.name = "mount_something", .promise = "it cannot change mounts", .inside = mount_something, .twin = "run_at_all",
     .excuses = "no_syscall_filter", .rare = true},
    {.name = "use_io_uring", .promise = "it cannot use io_uring", .inside = use_io_uring, .twin = "run_at_all",
     .excuses = "no_syscall_filter", .rare = true},
    {.name = "add_a_key", .promise = "it cannot use keyrings", .inside = add_a_key, .twin = "run_at_all", .excuses = "no_syscall_filter",
     .rare = true},
    {.name = "outlive_the_run", .promise = "nothing of it survives the run", .inside = outlive_the_run, .needs = "pipe",
     .twin = "signal_own_child", .happened = [](const Ground& g) { return g.somebody_lingers(); }},
};

constexpr Twin twin_rows[] = {
    {.name = "run_at_all", .promise = "it runs", .inside = run_at_all},
    {.name = "read_inside", .promise = "a file inside can be read", .inside = read_inside, .needs = "own_file"},
    {.name = "write_inside", .promise = "a file inside can be written", .inside = write_inside, .needs = "inside"},
    {.name = "chmod_inside", .promise = "the mode of a file inside can be changed", .inside = chmod_inside, .needs = "inside"},
    {.name = "use_socket_pair", .promise = "it can talk to itself", .inside = use_socket_pair},
    {.name = "signal_own_child", .promise = "it can start and end a process", .inside = signal_own_child},
    {.name = "read_own_process", .promise = "it can look at itself in /proc", .inside = read_own_process},
    {.name = "find_variable", .promise = "an ordinary variable passes", .inside = find_variable, .needs = "plain_name"},
};

Inside find_inside(std::string_view name) {
  for (const auto& row : attack_rows)
    if (row.name == name) return row.inside;
  for (const auto& row : twin_rows)
    if (row.name == name) return row.inside;
  return nullptr;
}

}  // namespace

std::span<const Attack> attacks() { return attack_rows; }
std::span<const Twin> twins() { return twin_rows; }

}  // namespace harn::doctor

namespace harn {

AttackReply attack(std::span<const std::string> words, const std::map<std::string, std::string>& environment) {
  const auto inside = words.empty() ? nullptr : doctor::find_inside(words.front());
  if (inside == nullptr) return {.exit_code = doctor::exit_broken, .line = "no such attack"};
  doctor::Targets targets;
  targets.environment = &environment;
  for (const auto& word : words.subspan(1)) {
    const auto equals = word.find('=');
    if (equals != std::string::npos) targets.set(word.substr(0, equals), word.substr(equals + 1));
  }
  const int error = inside(targets);
  if (!targets.complete()) return {.exit_code = doctor::exit_broken, .line = "a target is missing"};
  if (error == 0) return {.exit_code = doctor::exit_worked, .line = "worked"};
  const auto said = sys::os_failure("", "", error).message;
  return {.exit_code = doctor::exit_refused, .line = fmt::format("refused: {}", said.substr(said.rfind(": ") + 2))};
}

}  // namespace harn
