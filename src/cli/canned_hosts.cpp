// SPDX-License-Identifier: Apache-2.0
// Written in the facts format itself, so that each doubles as an example of a --facts file.
#include "cli/canned_hosts.h"

#include <cstdlib>
#include <string_view>

#include "harn/plan.h"

namespace harn::cli {
namespace {

constexpr std::string_view linux_host = R"({
  "name": "linux-6.12", "platform": "linux", "os_version": "Debian GNU/Linux 13", "uid": 1000, "gid": 1000,
  "home": "/home/me", "temp": "/tmp", "cwd": "/home/me/project", "project_root": "/home/me/project",
  "search_path": ["/usr/local/bin", "/usr/bin"],
  "linux": {"kernel": "6.12.41", "landlock_abi": 6, "seccomp": true, "seccomp_notify": true, "pidfd_getfd": true, "user_namespaces": true,
            "pid_namespaces": true, "network_namespaces": true, "cgroup": "v2"},
  "tools": {"bubblewrap": {"path": "/usr/bin/bwrap", "version": "0.11.0", "works": true},
            "firejail": {"path": "/usr/bin/firejail", "version": "0.9.74", "works": true},
            "docker": {"path": "/usr/bin/docker", "version": "27.5.1", "works": true},
            "podman": {"path": "/usr/bin/podman", "version": "5.4.2", "works": true}},
  "paths": {
    "/bin": {"kind": "directory", "link_target": "/usr/bin"}, "/sbin": {"kind": "directory", "link_target": "/usr/sbin"},
    "/lib": {"kind": "directory", "link_target": "/usr/lib"}, "/lib64": {"kind": "directory", "link_target": "/usr/lib64"},
    "/usr": "directory", "/usr/bin": "directory", "/usr/local/bin": "directory", "/etc": "directory", "/opt": "directory",
    "/tmp": "directory", "/home/me": "directory",
    "/dev/null": "device", "/dev/zero": "device", "/dev/full": "device", "/dev/random": "device", "/dev/urandom": "device", "/dev/tty": "device",
    "/etc/shadow": "file", "/etc/sudoers": "file", "/etc/ssl/private": "directory",
    "/home/me/.ssh": "directory", "/home/me/.gitconfig": "file", "/home/me/.cargo": "directory", "/home/me/.rustup": "directory",
    "/home/me/project": "directory", "/home/me/project/.git": "directory", "/home/me/project/.git/config": "file",
    "/home/me/project/.git/hooks": "directory"}})";

constexpr std::string_view macos_host = R"({
  "name": "macos-14", "platform": "macos", "os_version": "14.7", "uid": 501, "gid": 20,
  "home": "/Users/me", "temp": "/private/tmp", "cwd": "/Users/me/project", "project_root": "/Users/me/project",
  "search_path": ["/opt/homebrew/bin", "/usr/bin", "/bin"],
  "tools": {"sandbox-exec": {"path": "/usr/bin/sandbox-exec", "version": "", "works": true}},
  "paths": {
    "/bin": "directory", "/sbin": "directory", "/usr": "directory", "/usr/bin": "directory", "/System": "directory", "/Library": "directory",
    "/etc": {"kind": "directory", "link_target": "/private/etc"}, "/private/etc": "directory", "/private/var/select": "directory",
    "/opt/homebrew": "directory", "/opt/homebrew/bin": "directory", "/Applications": "directory", "/Library/Developer": "directory",
    "/private/tmp": "directory", "/dev/null": "device", "/dev/zero": "device", "/dev/random": "device", "/dev/urandom": "device", "/dev/tty": "device",
    "/Users/me": "directory", "/Users/me/.ssh": "directory", "/Users/me/.gitconfig": "file", "/Users/me/Library/Keychains": "directory",
    "/Users/me/project": "directory", "/Users/me/project/.git": "directory", "/Users/me/project/.git/config": "file",
    "/Users/me/project/.git/hooks": "directory"}})";

constexpr std::string_view windows_host = R"({
  "name": "windows-11", "platform": "windows", "os_version": "11 24H2",
  "home": "C:/Users/me", "temp": "C:/Users/me/AppData/Local/Temp", "cwd": "C:/Users/me/project", "project_root": "C:/Users/me/project",
  "search_path": ["C:/Windows/System32", "C:/Program Files/Git/cmd"],
  "paths": {
    "C:/Windows/System32": "directory", "C:/Program Files/Git/cmd": "directory", "C:/Users/me": "directory", "C:/Users/me/.ssh": "directory",
    "C:/Users/me/project": "directory", "C:/Users/me/project/.git": "directory", "C:/Users/me/project/.git/config": "file",
    "C:/Users/me/project/.git/hooks": "directory"}})";

constexpr std::string_view openbsd_host = R"({
  "name": "openbsd-7", "platform": "openbsd", "os_version": "7.7", "uid": 1000, "gid": 1000,
  "home": "/home/me", "temp": "/tmp", "cwd": "/home/me/project", "project_root": "/home/me/project",
  "search_path": ["/usr/local/bin", "/usr/bin", "/bin"],
  "paths": {
    "/bin": "directory", "/sbin": "directory", "/usr": "directory", "/usr/bin": "directory", "/usr/local/bin": "directory", "/etc": "directory",
    "/var/run/ld.so.hints": "file", "/tmp": "directory", "/dev/null": "device", "/dev/zero": "device", "/dev/random": "device",
    "/dev/urandom": "device", "/dev/tty": "device", "/home/me": "directory", "/home/me/.ssh": "directory",
    "/home/me/project": "directory", "/home/me/project/.git": "directory", "/home/me/project/.git/config": "file",
    "/home/me/project/.git/hooks": "directory"}})";

std::string_view text_of(Platform platform) {
  switch (platform) {
    case Platform::linux: return linux_host;
    case Platform::macos: return macos_host;
    case Platform::windows: return windows_host;
    case Platform::openbsd: return openbsd_host;
  }
  return linux_host;
}

}  // namespace

HostFacts canned_host(Platform platform) {
  auto facts = facts_from_json(text_of(platform));
  if (!facts) std::abort();
  return std::move(*facts);
}

}  // namespace harn::cli
