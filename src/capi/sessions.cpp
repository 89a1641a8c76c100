// SPDX-License-Identifier: Apache-2.0
// Sessions over the C ABI: the values are those of harn/session.h, as JSON.
#include "base/json.h"
#include "capi/answers.h"
#include "capi/requests.h"
#include "embed/error_json.h"
#include "harn.h"
#include "harn/session.h"
#include "policy/names.h"
#include "session/names.h"
#include "session/wire.h"

struct harn_backend {
  std::unique_ptr<harn::AuditLog> log = {};
  std::unique_ptr<harn::HostSandbox> sandbox = {};  // last: it borrows the log
};

namespace harn::capi {
namespace {

using base::Value;

Error worded(const SandboxError& error) {
  using K = SandboxErrorKind;
  const auto code = [&] {
    switch (error.kind) {
      case K::session_not_found: return ErrorCode::not_available;
      case K::unsupported: return ErrorCode::not_supported;
      case K::invalid_request: return ErrorCode::invalid_command;
      case K::json: return ErrorCode::protocol;
      default: return ErrorCode::refused;
    }
  };
  return {.code = code(), .stage = Stage::prepare, .os_error = error.os_error, .message = describe(error), .hint = error.hint};
}

std::string failed(const SandboxError& error) {
  auto value = embed::error_value(worded(error));
  value.set("kind", base::enum_name(error.kind));
  value.set("detail", error.detail);
  if (!error.backend.empty()) value.set("backend", error.backend);
  Value out;
  out.set("error", std::move(value));
  return base::print_json(out);
}

template <class T>
std::string told(const SandboxResult<T>& result) {
  return result ? to_json(*result) : failed(result.error());
}

// A method of the contract on an object and an id that are there.
template <class Work>
char* on_session(harn_backend* backend, const char* id, Work work) noexcept {
  return answer([&]() -> Result<std::string> {
    if (backend == nullptr || id == nullptr) return fail(no_object());
    const auto name = SandboxSessionId::parse(id);
    if (!name) return failed(name.error());
    return work(*backend->sandbox, *name);
  });
}

const char* or_empty(const char* text) { return text == nullptr ? "" : text; }

struct BackendRequest {
  std::string backend = "local";
  std::string image = {};
  std::optional<AbsPath> root_dir = {};
  Profile profile = Profile::os_hardened;
  std::optional<std::chrono::milliseconds> lifetime = {};
  Context context = {};
  std::optional<AuditMode> audit = {};
};

Error wrong(std::string message, std::string hint) {
  return {.code = ErrorCode::protocol, .stage = Stage::load, .message = std::move(message), .hint = std::move(hint)};
}

Result<BackendRequest> read_backend(const char* text) {
  HARN_TRY(value, base::parse_json(text == nullptr ? "{}" : text, "request"));
  BackendRequest out;
  session::ObjectReader reader(value);
  std::optional<std::string> root;
  std::optional<std::string> profile;
  std::optional<std::string> audit;
  std::int64_t lifetime = -1;
  reader.text("backend", out.backend).text("image", out.image).text("root_dir", root).text("profile", profile).text("audit", audit);
  reader.number("lifetime_ms", lifetime);
  const auto* context = reader.member("context");
  if (const auto done = reader.done(); !done) return fail(worded(done.error()));
  HARN_TRY(standing, read_context(context == nullptr ? nullptr : base::print_json(*context).c_str()));
  out.context = std::move(standing);
  if (root) {
    HARN_TRY(path, AbsPath::parse(*root));
    out.root_dir = std::move(path);
  }
  if (profile) {
    const auto named = base::enum_value<Profile>(*profile);
    if (!named) return fail(wrong("'profile' names none", "use worktree or os_hardened"));
    out.profile = *named;
  }
  if (audit) {
    out.audit = parse_audit_mode(*audit);
    if (!out.audit) return fail(wrong("'audit' is no way to keep a log", "use off, process or power"));
  }
  if (lifetime >= 0) out.lifetime = std::chrono::milliseconds(lifetime);
  return out;
}

template <class Opened>
Result<std::unique_ptr<HostSandbox>> kept(SandboxResult<Opened> opened) {
  if (!opened) return fail(worded(opened.error()));
  return std::make_unique<Opened>(std::move(*opened));
}

Result<std::unique_ptr<HostSandbox>> open_backend(BackendRequest request) {
  if (request.backend == "local")
    return kept(LocalSandbox::open({.context = std::move(request.context),
                                    .root_dir = std::move(request.root_dir),
                                    .sandbox_profile = request.profile,
                                    .lifetime = request.lifetime}));
  ContainerSandboxConfig config{.context = std::move(request.context),
                                .image = std::move(request.image),
                                .root_dir = std::move(request.root_dir),
                                .sandbox_profile = request.profile,
                                .lifetime = request.lifetime};
  if (request.backend == "docker") config.engine = ContainerEngine::docker;
  else if (request.backend == "podman") config.engine = ContainerEngine::podman;
  else if (request.backend != "container") return fail(wrong("'backend' names none", "use local, container, docker or podman"));
  return kept(ContainerSandbox::open(std::move(config)));
}

}  // namespace
}  // namespace harn::capi

using namespace harn;        // NOLINT(google-build-using-namespace): the functions below are C's
using namespace harn::capi;  // NOLINT(google-build-using-namespace)

extern "C" {

harn_backend* harn_backend_open(const char* request, char** error) {
  return make<harn_backend>(error, [&]() -> Result<std::unique_ptr<harn_backend>> {
    HARN_TRY(read, read_backend(request));
    auto made = std::make_unique<harn_backend>();
    made->log = log_for(read.audit, read.profile, read.context);
    HARN_TRY(sandbox, open_backend(std::move(read)));
    made->sandbox = std::move(sandbox);
    return made;
  });
}

void harn_backend_close(harn_backend* backend) { delete backend; }

char* harn_backend_describe(const harn_backend* backend) {
  return answer([&]() -> Result<std::string> {
    if (backend == nullptr) return fail(no_object());
    Value out;
    out.set("name", std::string(backend->sandbox->name()));
    out.set("capabilities", session::value_of(backend->sandbox->capabilities()));
    return base::print_json(out);
  });
}

char* harn_session_create(harn_backend* backend, const char* spec) {
  return answer([&]() -> Result<std::string> {
    if (backend == nullptr) return fail(no_object());
    const auto read = sandbox_spec_from_json(or_empty(spec));
    return read ? told(backend->sandbox->provision(*read)) : failed(read.error());
  });
}

char* harn_session_exec(harn_backend* backend, const char* id, const char* request, const harn_stop* stop, harn_output output, void* user) {
  return on_session(backend, id, [&](HostSandbox& sandbox, const SandboxSessionId& session) {
    const auto read = exec_request_from_json(or_empty(request));
    if (!read) return failed(read.error());
    return told(sandbox.exec(session, *read, {.on_output = sink_for(output, user), .stop = stop == nullptr ? nullptr : &stop->stop}));
  });
}

char* harn_session_list(harn_backend* backend) {
  return answer([&]() -> Result<std::string> {
    if (backend == nullptr) return fail(no_object());
    const auto all = backend->sandbox->list();
    if (!all) return failed(all.error());
    base::Array sessions;
    for (const auto& one : *all) sessions.push_back(session::value_of(one));
    Value out;
    out.set("sessions", std::move(sessions));
    return base::print_json(out);
  });
}

char* harn_session_show(harn_backend* backend, const char* id) {
  return on_session(backend, id, [](HostSandbox& sandbox, const SandboxSessionId& session) { return told(sandbox.find(session)); });
}

char* harn_session_mount(harn_backend* backend, const char* id, const char* mount) {
  return on_session(backend, id, [&](HostSandbox& sandbox, const SandboxSessionId& session) {
    const auto read = filesystem_mount_from_json(or_empty(mount));
    return read ? told(sandbox.attach_filesystem(session, *read)) : failed(read.error());
  });
}

char* harn_session_network(harn_backend* backend, const char* id, const char* policy) {
  return on_session(backend, id, [&](HostSandbox& sandbox, const SandboxSessionId& session) {
    const auto read = network_policy_from_json(or_empty(policy));
    return read ? told(sandbox.apply_network_policy(session, *read)) : failed(read.error());
  });
}

char* harn_session_snapshot(harn_backend* backend, const char* id) {
  return on_session(backend, id, [](HostSandbox& sandbox, const SandboxSessionId& session) { return told(sandbox.snapshot(session)); });
}

char* harn_session_restore(harn_backend* backend, const char* id, const char* snapshot) {
  return on_session(backend, id, [&](HostSandbox& sandbox, const SandboxSessionId& session) {
    const auto read = sandbox_snapshot_from_json(or_empty(snapshot));
    return read ? told(sandbox.restore(*read, session)) : failed(read.error());
  });
}

char* harn_session_suspend(harn_backend* backend, const char* id) {
  return on_session(backend, id, [](HostSandbox& sandbox, const SandboxSessionId& session) { return told(sandbox.suspend(session)); });
}

char* harn_session_resume(harn_backend* backend, const char* id) {
  return on_session(backend, id, [](HostSandbox& sandbox, const SandboxSessionId& session) { return told(sandbox.resume(session)); });
}

char* harn_session_terminate(harn_backend* backend, const char* id) {
  return on_session(backend, id, [](HostSandbox& sandbox, const SandboxSessionId& session) {
    const auto ended = sandbox.terminate(session);
    return ended ? std::string("{}") : failed(ended.error());
  });
}

char* harn_session_gc(harn_backend* backend) {
  return answer([&]() -> Result<std::string> {
    if (backend == nullptr) return fail(no_object());
    const auto cleared = backend->sandbox->collect_garbage();
    if (!cleared) return failed(cleared.error());
    base::Array ids;
    for (const auto& id : *cleared) ids.emplace_back(id.value);
    Value out;
    out.set("cleared", std::move(ids));
    return base::print_json(out);
  });
}

}  // extern "C"
