// SPDX-License-Identifier: Apache-2.0
#include "plan/openbsd/promises.h"

namespace harn::plan {
namespace {

// Withheld on purpose: ps (other processes' arguments and environments), id, settime, pf, bpf, route,
// sendfd and recvfd (descriptors from outside), unveil (the list is locked anyway), tmppath (it walks
// around unveil).
constexpr Promise table[] = {
    {"error", PromiseWhen::always, "a refused call fails instead of killing a program that never heard of pledge"},
    {"stdio", PromiseWhen::always, "memory, pipes, clocks, descriptors already open"},
    {"rpath", PromiseWhen::always, "reading; unveil says what"},
    {"wpath", PromiseWhen::always, "writing; unveil says what. Shells pledge it for themselves and are killed later if it is missing"},
    {"cpath", PromiseWhen::always, "creating and removing; unveil says what. Shells need it like wpath"},
    {"dpath", PromiseWhen::writes, "named pipes of build tools"},
    {"fattr", PromiseWhen::always, "modes and times; unveil says of what. make and install pledge it for themselves"},
    {"flock", PromiseWhen::always, "lock files of package managers and version control"},
    {"getpw", PromiseWhen::always, "user names for shells, tar, git"},
    {"tty", PromiseWhen::always, "terminals: job control and window size; OpenBSD has no TIOCSTI"},
    {"proc", PromiseWhen::always, "fork"},
    {"exec", PromiseWhen::always, "starting programs, which inherit exactly these promises"},
    {"prot_exec", PromiseWhen::always, "loading shared modules and just-in-time compilers"},
    {"unix", PromiseWhen::sockets, "connecting to the sockets the policy lists; unveil says which"},
    {"inet", PromiseWhen::network, "sockets to other hosts"},
    {"dns", PromiseWhen::network, "looking up names"},
};

bool holds(PromiseWhen when, const PromiseNeeds& needs) {
  switch (when) {
    case PromiseWhen::always: return true;
    case PromiseWhen::writes: return needs.writes;
    case PromiseWhen::network: return needs.network;
    case PromiseWhen::sockets: return needs.sockets;
  }
  return false;
}

}  // namespace

std::span<const Promise> promise_table() { return table; }

std::vector<std::string> promises_for(const PromiseNeeds& needs) {
  std::vector<std::string> out;
  for (const auto& promise : table)
    if (holds(promise.when, needs)) out.emplace_back(promise.name);
  return out;
}

}  // namespace harn::plan
