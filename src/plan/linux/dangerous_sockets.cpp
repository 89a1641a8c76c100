// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/dangerous_sockets.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"

namespace harn::plan {
namespace {

enum class Match : std::uint8_t {
  name,        // the last component is exactly this
  name_start,  // the last component begins with this
  beneath,     // the path holds this run of components and continues below it
};

struct Row {
  Match match;
  std::string_view text;
  std::string_view gives;
};

// By name rather than by place: rootless daemons, desktop variants and /run versus /var/run put the
// same socket in many directories.
constexpr Row rows[] = {
    {Match::name, "docker.sock", "the Docker daemon"},
    {Match::name, "docker-cli.sock", "the Docker daemon"},
    {Match::name, "docker.raw.sock", "the Docker daemon"},
    {Match::name_start, "containerd.sock", "the containerd daemon"},
    {Match::name, "podman.sock", "the Podman service"},
    {Match::name, "crio.sock", "the CRI-O daemon"},
    {Match::name, "cri-dockerd.sock", "the Docker daemon"},
    {Match::name, "dockershim.sock", "the Docker daemon"},
    {Match::name, "buildkitd.sock", "the BuildKit daemon"},
    {Match::beneath, "lxd", "the LXD daemon"},
    {Match::beneath, "incus", "the Incus daemon"},
    {Match::beneath, "libvirt", "the libvirt daemon"},
    {Match::name, "system_bus_socket", "the system D-Bus"},
    {Match::beneath, "run/dbus", "the system D-Bus"},
    {Match::name, "bus", "the session D-Bus"},
    {Match::name_start, "dbus-", "the session D-Bus"},
    {Match::beneath, "systemd", "the service manager"},
    {Match::name_start, "snapd", "the snap daemon"},
    {Match::beneath, ".X11-unix", "the X server, which can type into every window"},
    {Match::beneath, "ICE-unix", "the desktop session"},
    {Match::name_start, "vscode-ipc-", "the editor, which runs commands"},
    {Match::name_start, "vscode-git-", "the editor, which runs commands"},
    {Match::beneath, "emacs", "the editor, which runs commands"},
    {Match::beneath, "screen", "a terminal multiplexer, which can type into shells"},
    {Match::name_start, "watchman", "the watchman service, which runs triggers"},
    {Match::name, "supervisor.sock", "the process supervisor"},
};

// The tmux server directory is named after the user: tmux-1000/default.
bool is_tmux(const AbsPath& socket) { return socket.parent().name().starts_with("tmux-"); }

bool lies_beneath(const AbsPath& socket, std::string_view run) {
  return socket.text().find("/" + std::string(run) + "/") != std::string::npos;
}

bool matches(const Row& row, const AbsPath& socket) {
  switch (row.match) {
    case Match::name: return socket.name() == row.text;
    case Match::name_start: return socket.name().starts_with(row.text);
    case Match::beneath: return lies_beneath(socket, row.text);
  }
  return false;
}

}  // namespace

std::string_view danger_of(const AbsPath& socket) {
  for (const auto& row : rows)
    if (matches(row, socket)) return row.gives;
  return is_tmux(socket) ? "a terminal multiplexer, which can type into shells" : std::string_view{};
}

Status refuse_dangerous_sockets(const Policy& policy) {
  auto sockets = entries(policy.process_sandbox.unix_sockets);
  std::sort(sockets.begin(), sockets.end());
  for (const auto& socket : sockets) {
    const auto danger = danger_of(socket.path);
    if (socket.allow_dangerous || danger.empty()) continue;
    return fail(Error{.code = ErrorCode::invalid_policy,
                      .stage = Stage::plan,
                      .message = "the Unix socket " + base::quoted(socket.path.text()) + " controls " + std::string(danger) +
                                 ", which can start programs outside the sandbox",
                      .hint = "remove it from process_sandbox.unix_sockets, or set allow_dangerous = true beside the path",
                      .where = "/process_sandbox/unix_sockets"});
  }
  return {};
}

}  // namespace harn::plan
