// SPDX-License-Identifier: Apache-2.0
#include "plan/wrappers/container_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "plan/wrappers/wrapper_coverage.h"

namespace harn::plan {
namespace {

// Since docker 25 the option has a new name, and the old one prints a warning into the command's stderr.
constexpr int first_docker_with_bind_recursive = 25;

int major_version(std::string_view text) {
  int major = 0;
  std::from_chars(text.data(), text.data() + text.size(), major);
  return major;
}

// The engines read --mount as one CSV record: a field with a comma or a quote is quoted as a whole.
std::string csv_field(std::string_view name, std::string_view value) {
  auto field = fmt::format("{}={}", name, value);
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string out = "\"";
  for (const char c : field) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

// Control characters break the record, trailing space is trimmed, and the engine's API speaks UTF-8.
Status check_path(const AbsPath& path) {
  const auto& text = path.text();
  const bool control = std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
  if (!control && text.back() != ' ' && base::valid_utf8(text)) return {};
  return fail(cannot_express("the path " + base::quoted(text) + " cannot be written on a container engine's command line",
                             "rename it, or use the linux backend"));
}

// Wrong values here would make the client talk to another daemon or run another program, outside the
// sandbox and before it exists.
bool steers_client(std::string_view name) {
  constexpr std::array starts{"DOCKER_",  "CONTAINER_", "CONTAINERS_", "_CONTAINERS_", "PODMAN_", "LIBPOD_", "BUILDKIT_", "BUILDAH_",
                              "STORAGE_", "REGISTRY_",  "CNI_",        "NETAVARK_",    "CONMON_", "OCI_",    "LISTEN_",   "NOTIFY_"};
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return name.starts_with(start); });
}

// The client obeys these too, but a command needs them and their values are no secret.
bool steers_every_program(std::string_view name) {
  constexpr std::array names{"PATH",          "HOME",        "TMPDIR",     "TMP",  "TEMP",       "USER",   "LOGNAME",
                             "GODEBUG",       "GOTRACEBACK", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "LC_ALL", "DBUS_SESSION_BUS_ADDRESS",
                             "SSL_CERT_FILE", "SSL_CERT_DIR"};
  return name.starts_with("XDG_") || std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string_view name_of(Engine engine) { return engine == Engine::docker ? "docker" : "podman"; }

MountWords::MountWords(const HostFacts& facts, Engine engine) : engine_(engine), not_recursive_("bind-nonrecursive") {
  const auto tool = facts.tools.find(std::string(name_of(engine)));
  const bool renamed =
      engine == Engine::docker && tool != facts.tools.end() && major_version(tool->second.version) >= first_docker_with_bind_recursive;
  if (renamed) not_recursive_ = "bind-recursive=disabled";
}

Result<std::string> MountWords::word(const MountStep& step) const {
  HARN_OK(check_path(step.target));
  const auto target = csv_field("target", step.target.text());
  const bool hides = step.op == MountOp::hide || step.op == MountOp::tmpfs;
  if (hides && !step.file) {
    // docker takes mode 0 for "unset" and would open the directory to everybody; podman would copy what is
    // hidden into it, and knows "readonly" for binds only.
    return fmt::format("type=tmpfs,{},tmpfs-size=4096,tmpfs-mode={},{}", target, step.op == MountOp::tmpfs ? "0111" : "0100",
                       engine_ == Engine::podman ? "ro,notmpcopyup" : "readonly");
  }
  if (hides) return fmt::format("type=bind,source=/dev/null,{},readonly", target);
  auto bind = fmt::format("type=bind,{},{}", csv_field("source", step.source), target);
  if (step.op == MountOp::bind) return bind;
  // "readonly" does not reach mounts beneath the source on every version: leave those out.
  return fmt::format("{},readonly,{}", bind, not_recursive_);
}

Result<std::string> scratch_word(const AbsPath& place, std::string_view size, const HostFacts& facts, Engine engine) {
  HARN_OK(check_path(place));
  if (place.text().find(':') != std::string::npos)
    return fail(cannot_express("a private directory at " + base::quoted(place.text()) + " cannot be asked for: ':' ends its name",
                               "set HOME to a path without ':'"));
  // Where the image has that directory docker brings its mode back, so it must be the command's own.
  // podman knows no owners here.
  const auto own = engine == Engine::podman ? std::string("notmpcopyup") : fmt::format("uid={},gid={}", facts.uid, facts.gid);
  return fmt::format("{}:rw,exec,nosuid,nodev,mode=1777,size={},{}", place.text(), size, own);
}

void add_environment(const Policy& policy, Plan& plan, std::vector<std::string>& words) {
  auto& variables = plan.env.variables;
  const auto& set = policy.env.set;
  for (auto it = variables.begin(); it != variables.end();) {
    const auto& name = it->first;
    const bool image_has_its_own = name == "PATH" && !set.contains(name);
    if (steers_client(name) || image_has_its_own) {
      plan.env.removed.push_back({name, image_has_its_own ? "the image has its own" : "steers the container engine"});
      it = variables.erase(it);
      continue;
    }
    words.push_back("--env");
    words.push_back(steers_every_program(name) ? name + "=" + it->second : name);
    ++it;
  }
  std::sort(plan.env.removed.begin(), plan.env.removed.end());
}

void change_command(const Policy& policy, std::vector<std::string> argv, Plan& plan) {
  auto& words = std::get<Wrapper>(plan.confinement).argv;
  words.resize(words.size() - plan.argv.size());
  std::vector<std::string> changed;
  const auto own = words.size() - entry_words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i < own && words[i] == "--env") {
      ++i;
      continue;
    }
    changed.push_back(words[i]);
    if (words[i] == "create" && i < own) add_environment(policy, plan, changed);
  }
  changed.insert(changed.end(), argv.begin(), argv.end());
  words = std::move(changed);
  plan.argv = std::move(argv);
}

}  // namespace harn::plan
