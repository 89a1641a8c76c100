// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/socket_reach.h"

#include <gtest/gtest.h>

namespace harn::plan {
namespace {

struct Case {
  const char* name;
  int abi = 9;
  bool view = true;
  bool own_network = true;
  bool seccomp = true;
  bool supervisor = false;
  bool writes = false;    // the root is a workspace
  bool datagram = false;  // the named socket takes datagrams
  NetworkReach reach = NetworkReach::none;
  const char* root = "/w";       // read-only root of the policy
  const char* socket = nullptr;  // named by the policy
  SocketReach expected = {};
};

constexpr auto refused = "Unix sockets are limited to connected pairs: nothing here keeps sockets of the host away";
constexpr auto withheld = "the Unix sockets of the policy cannot be offered on this host: only connected pairs are allowed";

std::vector<AbsPath> paths(std::initializer_list<const char*> texts) {
  std::vector<AbsPath> out;
  for (const auto* text : texts) out.push_back(AbsPath::of(text));
  return out;
}

SocketReach reach_of(const Case& row) {
  HostFacts facts;
  facts.home = AbsPath::of("/home/u");
  facts.unlisted = PathKind::directory;
  facts.linux = {.landlock_abi = row.abi, .seccomp = row.seccomp, .user_namespaces = row.view, .network_namespaces = row.own_network};
  Policy policy;
  policy.workspace_roots.emplace();
  policy.process_sandbox.presets.emplace();
  facts.linux.seccomp_notify = facts.linux.pidfd_getfd = row.supervisor;
  auto& roots = row.writes ? policy.workspace_roots : policy.read_only_roots;
  roots = {AbsPath::of(row.root)};
  if (row.socket != nullptr) facts.paths[row.socket] = {.kind = PathKind::socket, .datagram = row.datagram};
  if (row.socket != nullptr) policy.process_sandbox.unix_sockets = {{AbsPath::of(row.socket)}};
  const auto rules = PathRules::for_processes(policy, facts);
  const Command command;
  return socket_reach({.policy = policy, .command = command, .facts = facts, .rules = rules}, row.reach);
}

TEST(SocketReach, IsFullOnlyWhereTheHostsSocketsAreKeptAway) {
  const Case table[] = {
      {.name = "rules decide by path", .view = false, .expected = {.full = true}},
      {.name = "rules decide even where services listen", .view = false, .root = "/run", .expected = {.full = true}},
      {.name = "the view hides them", .abi = 6, .expected = {.full = true, .granted = paths({"/w"})}},
      {.name = "abstract names need a network of their own",
       .abi = 5,
       .expected = {.full = true, .private_network = true, .granted = paths({"/w"})}},
      {.name = "without one only pairs", .abi = 5, .own_network = false, .expected = {.note = refused}},
      {.name = "an open network cannot have one", .abi = 5, .reach = NetworkReach::unrestricted, .expected = {.note = refused}},
      {.name = "an open network with scopes",
       .abi = 6,
       .reach = NetworkReach::unrestricted,
       .expected = {.full = true, .granted = paths({"/w"})}},
      {.name = "neither view nor rules", .abi = 8, .view = false, .expected = {.note = refused}},
      {.name = "/run is granted", .abi = 8, .root = "/run", .expected = {.note = refused}},
      {.name = "something in /run is granted", .abi = 8, .root = "/run/user/1000", .expected = {.note = refused}},
      {.name = "everything is granted", .abi = 8, .root = "/", .expected = {.note = refused}},
      {.name = "the home is granted", .abi = 8, .root = "/home", .expected = {.note = refused}},
      {.name = "a workspace inside the home is fine",
       .abi = 8,
       .root = "/home/u/p",
       .expected = {.full = true, .granted = paths({"/home/u/p"})}},
      {.name = "a workspace inside /tmp is fine", .abi = 8, .root = "/tmp/p", .expected = {.full = true, .granted = paths({"/tmp/p"})}},
  };
  for (const auto& row : table) EXPECT_EQ(reach_of(row), row.expected) << row.name;
}

TEST(SocketReach, ANamedSocketIsWorthAReportedGap) {
  const Case table[] = {
      {.name = "reachable without exposing more", .abi = 6, .socket = "/srv/s", .expected = {.full = true, .granted = paths({"/w"})}},
      {.name = "services listen beside it",
       .abi = 6,
       .root = "/run",
       .socket = "/srv/s",
       .expected = {.full = true, .exposed = paths({"/run"})}},
      {.name = "abstract names stay open",
       .abi = 5,
       .own_network = false,
       .socket = "/srv/s",
       .expected = {.full = true, .abstract_open = true, .granted = paths({"/w"})}},
      {.name = "nothing could limit it to that one", .abi = 8, .view = false, .socket = "/srv/s", .expected = {.note = withheld}},
  };
  for (const auto& row : table) EXPECT_EQ(reach_of(row), row.expected) << row.name;
}

TEST(SocketReach, ASupervisorConnectsWhereNothingElseDecides) {
  constexpr auto no_datagrams =
      "Unix datagram sockets are refused: no socket of the policy takes datagrams, and others cannot be kept away";
  const SocketReach streams{.full = true, .supervised = true, .no_datagrams = true, .note = no_datagrams};
  const Case table[] = {
      {.name = "something may be written", .abi = 7, .view = false, .supervisor = true, .writes = true, .expected = streams},
      {.name = "whatever else is granted",
       .abi = 7,
       .view = false,
       .supervisor = true,
       .writes = true,
       .root = "/run",
       .expected = streams},
      {.name = "before scopes too", .abi = 1, .view = false, .supervisor = true, .writes = true, .expected = streams},
      {.name = "not for nothing", .abi = 7, .view = false, .supervisor = true, .expected = {.note = refused}},
      {.name = "for a socket of the policy", .abi = 7, .view = false, .supervisor = true, .socket = "/srv/s", .expected = streams},
      {.name = "a socket that takes datagrams",
       .abi = 7,
       .view = false,
       .supervisor = true,
       .datagram = true,
       .socket = "/srv/s",
       .expected = {.full = true, .supervised = true}},
      {.name = "a view decides by itself",
       .abi = 7,
       .supervisor = true,
       .writes = true,
       .expected = {.full = true, .granted = paths({"/w"})}},
      {.name = "rules decide by themselves", .view = false, .supervisor = true, .writes = true, .expected = {.full = true}},
      {.name = "no filter, no supervisor",
       .abi = 7,
       .view = false,
       .seccomp = false,
       .supervisor = true,
       .writes = true,
       .expected = {.full = true, .exposed = paths({"/"})}},
  };
  for (const auto& row : table) EXPECT_EQ(reach_of(row), row.expected) << row.name;
}

TEST(SocketReach, WithoutAFilterNothingLimitsTheFamily) {
  const Case table[] = {
      {.name = "the view still hides", .abi = 6, .seccomp = false, .expected = {.full = true, .granted = paths({"/w"})}},
      {.name = "nothing hides",
       .abi = 5,
       .view = false,
       .seccomp = false,
       .expected = {.full = true, .abstract_open = true, .exposed = paths({"/"})}},
  };
  for (const auto& row : table) EXPECT_EQ(reach_of(row), row.expected) << row.name;
}

}  // namespace
}  // namespace harn::plan
