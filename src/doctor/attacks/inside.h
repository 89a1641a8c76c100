// SPDX-License-Identifier: Apache-2.0
// The attacks and their harmless neighbours, as they run inside. Each answers 0 when it worked, or the
// errno it was refused with.
#pragma once

#include "doctor/attacks/targets.h"

namespace harn::doctor {

// on files
int read_outside(const Targets& at);
int list_outside(const Targets& at);
int write_outside(const Targets& at);
int create_outside(const Targets& at);
int delete_outside(const Targets& at);
int truncate_outside(const Targets& at);
int move_outside(const Targets& at);
int link_inside(const Targets& at);
int chmod_outside(const Targets& at);
int touch_outside(const Targets& at);
int read_credential(const Targets& at);
int write_protected(const Targets& at);
int create_protected(const Targets& at);

// on sockets
int connect_port(const Targets& at);
int send_datagram(const Targets& at);
int connect_abstract(const Targets& at);
int connect_named(const Targets& at);

// on processes
int signal_outside(const Targets& at);
int see_process(const Targets& at);
int read_environment(const Targets& at);
int trace_outside(const Targets& at);
int read_memory(const Targets& at);
int take_descriptor(const Targets& at);
int limit_outside(const Targets& at);
int attach_memory(const Targets& at);
int outlive_the_run(const Targets& at);
int find_secret(const Targets& at);

// on privileges
int gain_privileges(const Targets& at);
int hold_capabilities(const Targets& at);
int make_namespaces(const Targets& at);
int mount_something(const Targets& at);
int use_io_uring(const Targets& at);
int add_a_key(const Targets& at);
int push_input(const Targets& at);
int open_raw_device(const Targets& at);

// harmless
int run_at_all(const Targets& at);
int read_inside(const Targets& at);
int write_inside(const Targets& at);
int chmod_inside(const Targets& at);
int use_socket_pair(const Targets& at);
int signal_own_child(const Targets& at);
int read_own_process(const Targets& at);
int find_variable(const Targets& at);

}  // namespace harn::doctor
