// SPDX-License-Identifier: Apache-2.0
#include "plan/wrappers/container_client.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/wrappers/wrapper_coverage.h"

namespace harn::plan {
namespace {

constexpr std::string_view docker_default = "unix:///var/run/docker.sock";
// Where engines keep their own programs; the caller's PATH may lead into a project.
constexpr std::string_view client_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::string_view local = "unix://";
constexpr std::array podman_files{"CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF"};

std::string value_of(const Variables& caller, const std::string& name) {
  const auto found = caller.find(name);
  return found == caller.end() ? std::string() : found->second;
}

Error elsewhere(std::string_view name, std::string_view value) {
  return cannot_express(fmt::format("{} is {}: an engine there would mount other files than these", name, base::quoted(value)),
                        fmt::format("unset {}, or name the socket of an engine on this machine, such as {}", name, docker_default));
}

Result<AbsPath> own_path(std::string_view name, std::string_view text) {
  auto path = AbsPath::parse(text);
  if (!path) return fail(cannot_express(fmt::format("{} is {}, which is no absolute path", name, base::quoted(text)), "write it from /"));
  return path;
}

Status talk_to_docker(const Variables& caller, ContainerClient& client) {
  if (const auto context = value_of(caller, "DOCKER_CONTEXT"); !context.empty() && context != "default")
    return fail(cannot_express(fmt::format("DOCKER_CONTEXT is {}, and harn reads no contexts", base::quoted(context)),
                               "unset it, and set DOCKER_HOST to the socket of the engine"));
  auto host = value_of(caller, "DOCKER_HOST");
  if (host.empty()) host = docker_default;
  if (!host.starts_with(local)) return fail(elsewhere("DOCKER_HOST", host));
  HARN_TRY(socket, own_path("DOCKER_HOST", std::string_view(host).substr(local.size())));
  // Without a configuration there are no proxies, credential helpers, plug-ins and contexts of anybody's.
  client.words = {"--host", std::string(local) + socket.text(), "--config", "@dir:config"};
  constexpr std::string_view old_run = "/var/run/";
  if (socket.text().starts_with(old_run)) client.sockets.push_back(AbsPath::of("/run/" + socket.text().substr(old_run.size())));
  client.sockets.push_back(std::move(socket));
  return {};
}

Status talk_to_podman(const Variables& caller, const HostFacts& facts, ContainerClient& client) {
  for (const auto* name : {"CONTAINER_HOST", "CONTAINER_CONNECTION"})
    if (const auto value = value_of(caller, name); !value.empty()) return fail(elsewhere(name, value));
  for (const std::string name : podman_files) {
    const auto value = value_of(caller, name);
    if (value.empty()) continue;
    HARN_TRY(path, own_path(name, value));
    client.environment[name] = path.text();
    client.trusted.push_back(std::move(path));
  }
  for (const std::string name : {"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}) {
    const auto value = value_of(caller, name);
    if (value.empty() || value.front() != '/') continue;
    client.environment[name] = value;
  }
  const auto config = client.environment.find("XDG_CONFIG_HOME");
  HARN_TRY(settings, own_path("XDG_CONFIG_HOME", config == client.environment.end() ? facts.home.text() + "/.config" : config->second));
  client.trusted.push_back(settings.join("containers"));
  return {};
}

}  // namespace

Result<ContainerClient> container_client(const Variables& caller, const HostFacts& facts, Engine engine) {
  ContainerClient client;
  client.environment = {{"PATH", std::string(client_path)}, {"LC_ALL", "C"}};
  // docker is told to read nothing there.
  if (engine == Engine::podman) client.environment["HOME"] = facts.home.text();
  HARN_OK(engine == Engine::docker ? talk_to_docker(caller, client) : talk_to_podman(caller, facts, client));
  const auto tool = facts.tools.find(std::string(name_of(engine)));
  if (tool != facts.tools.end() && !tool->second.path.is_root()) client.trusted.push_back(tool->second.path);
  return client;
}

Status check_client(const ContainerClient& client, const PathRules& rules) {
  const auto refused = [](const AbsPath& path) {
    return fail(cannot_express(base::quoted(path.text()) + " decides about the container engine, and the policy opens it to the command",
                               "grant a directory without it"));
  };
  for (const auto& path : client.trusted)
    if (rules.access(path) == Access::write) return refused(path);
  // To see a daemon's socket is to have the daemon.
  for (const auto& path : client.sockets)
    if (rules.access(path) != Access::none) return refused(path);
  return {};
}

}  // namespace harn::plan
