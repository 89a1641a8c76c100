// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/dangerous_sockets.h"

#include <gtest/gtest.h>

namespace harn::plan {
namespace {

TEST(DangerousSockets, KnowsWhatHandsOutTheHost) {
  const std::pair<const char*, const char*> table[] = {
      {"/var/run/docker.sock", "the Docker daemon"},
      {"/run/user/1000/docker.sock", "the Docker daemon"},
      {"/home/u/.docker/run/docker.sock", "the Docker daemon"},
      {"/run/containerd/containerd.sock", "the containerd daemon"},
      {"/run/containerd/containerd.sock.ttrpc", "the containerd daemon"},
      {"/run/podman/podman.sock", "the Podman service"},
      {"/run/crio/crio.sock", "the CRI-O daemon"},
      {"/run/libvirt/libvirt-sock", "the libvirt daemon"},
      {"/var/lib/lxd/unix.socket", "the LXD daemon"},
      {"/run/dbus/system_bus_socket", "the system D-Bus"},
      {"/run/user/1000/bus", "the session D-Bus"},
      {"/tmp/dbus-Xy12", "the session D-Bus"},
      {"/run/systemd/private", "the service manager"},
      {"/run/user/1000/systemd/private", "the service manager"},
      {"/run/snapd.socket", "the snap daemon"},
      {"/tmp/.X11-unix/X0", "the X server, which can type into every window"},
      {"/run/user/1000/vscode-ipc-7.sock", "the editor, which runs commands"},
      {"/tmp/tmux-1000/default", "a terminal multiplexer, which can type into shells"},
      {"/srv/db/postgres.sock", ""},
      {"/w/mydocker.sock", ""},
      {"/w/systemd", ""},
      {"/w/bus.sock", ""},
  };
  for (const auto& [path, danger] : table) EXPECT_EQ(danger_of(AbsPath::of(path)), danger) << path;
}

Policy with_sockets(std::vector<UnixSocket> sockets) {
  Policy policy;
  policy.process_sandbox.unix_sockets = std::move(sockets);
  return policy;
}

TEST(DangerousSockets, RefusesTheFirstInPathOrderThatNobodyAllowed) {
  const auto status = refuse_dangerous_sockets(
      with_sockets({{AbsPath::of("/run/podman/podman.sock")}, {AbsPath::of("/run/docker.sock")}, {AbsPath::of("/a.sock")}}));
  ASSERT_FALSE(status);
  const Error expected{
      .code = ErrorCode::invalid_policy,
      .stage = Stage::plan,
      .message = "the Unix socket '/run/docker.sock' controls the Docker daemon, which can start programs outside the sandbox",
      .hint = "remove it from process_sandbox.unix_sockets, or set allow_dangerous = true beside the path",
      .where = "/process_sandbox/unix_sockets"};
  EXPECT_EQ(status.error(), expected) << describe(status.error());
}

TEST(DangerousSockets, AcceptsHarmlessAndAllowedOnes) {
  EXPECT_TRUE(refuse_dangerous_sockets(with_sockets({})));
  EXPECT_TRUE(refuse_dangerous_sockets(with_sockets({{AbsPath::of("/srv/db.sock")}, {AbsPath::of("/run/docker.sock"), true}})));
}

}  // namespace
}  // namespace harn::plan
