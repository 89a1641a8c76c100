// SPDX-License-Identifier: Apache-2.0
// The one place that starts processes: suspended, born in their job, with three handles and no others, and in the container
// where there is one. Every attribute must be taken, or nothing is started.
#include <windows.h>
// after windows.h
#include <sddl.h>

#include <memory>
#include <vector>

#include "run/windows/os/native.h"
#include "run/windows/os/real_calls.h"
#include "run/windows/program.h"

namespace harn::run::windows {
namespace {

using Initialize = BOOL(WINAPI*)(LPPROC_THREAD_ATTRIBUTE_LIST, DWORD, DWORD, PSIZE_T);
using Update = BOOL(WINAPI*)(LPPROC_THREAD_ATTRIBUTE_LIST, DWORD, DWORD_PTR, PVOID, SIZE_T, PVOID, PSIZE_T);
using Delete = void(WINAPI*)(LPPROC_THREAD_ATTRIBUTE_LIST);
constexpr const char* library = "kernel32.dll";

// The job list is not in the headers of mingw; the other two are, under conditions.
constexpr DWORD_PTR attribute_job_list = ProcThreadAttributeValue(13, FALSE, TRUE, FALSE);
constexpr DWORD_PTR attribute_security_capabilities = ProcThreadAttributeValue(9, FALSE, TRUE, FALSE);
constexpr DWORD_PTR attribute_handle_list = ProcThreadAttributeValue(2, FALSE, TRUE, FALSE);

using Sid = std::unique_ptr<void, decltype(&::LocalFree)>;

Result<Sid> sid_from(const std::string& text) {
  HARN_TRY(name, wide(text));
  PSID sid = nullptr;
  if (::ConvertStringSidToSidW(name.c_str(), &sid) == 0) return call_failed("ConvertStringSidToSidW", text);
  return Sid(sid, &::LocalFree);
}

class Attributes {
 public:
  Attributes() = default;
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() {
    if (made_) delete_(list());
  }

  Status make(DWORD count) {
    HARN_TRY(initialize, exported<Initialize>(library, "InitializeProcThreadAttributeList"));
    HARN_TRY(update, exported<Update>(library, "UpdateProcThreadAttribute"));
    HARN_TRY(remove, exported<Delete>(library, "DeleteProcThreadAttributeList"));
    update_ = update;
    delete_ = remove;
    SIZE_T size = 0;
    initialize(nullptr, count, 0, &size);
    bytes_.resize(size);
    made_ = initialize(list(), count, 0, &size) != 0;
    return made_ ? Status() : Status(call_failed("InitializeProcThreadAttributeList"));
  }

  Status set(DWORD_PTR attribute, void* value, std::size_t size, std::string_view what) {
    if (update_(list(), 0, attribute, value, size, nullptr, nullptr) != 0) return {};
    auto failed = call_failed("UpdateProcThreadAttribute", what);
    failed.error().code = ErrorCode::refused;  // what would start now would not be confined
    return failed;
  }

  LPPROC_THREAD_ATTRIBUTE_LIST list() { return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(bytes_.data()); }

 private:
  std::vector<std::byte> bytes_ = {};
  Update update_ = nullptr;
  Delete delete_ = nullptr;
  bool made_ = false;
};

// The container and its capabilities, as the structure the attribute points to for as long as it is used.
struct Capabilities {
  std::vector<Sid> sids = {};
  std::vector<SID_AND_ATTRIBUTES> entries = {};
  SECURITY_CAPABILITIES whole = {};
};

Status fill(const SpawnRequest& request, Capabilities& out) {
  HARN_TRY(container, sid_from(*request.container));
  out.sids.push_back(std::move(container));
  for (const auto& capability : request.capabilities) {
    HARN_TRY(sid, sid_from(capability));
    out.entries.push_back({.Sid = sid.get(), .Attributes = SE_GROUP_ENABLED});
    out.sids.push_back(std::move(sid));
  }
  out.whole = {.AppContainerSid = out.sids.front().get(),
               .Capabilities = out.entries.data(),
               .CapabilityCount = static_cast<DWORD>(out.entries.size()),
               .Reserved = 0};
  return {};
}

Result<Child> spawn_suspended(const SpawnRequest& request) {
  Attributes attributes;
  HARN_OK(attributes.make(request.container ? 3 : 2));
  std::array<HANDLE, 3> streams = {native(request.streams[0]), native(request.streams[1]), native(request.streams[2])};
  HANDLE job = native(request.job);
  HARN_OK(attributes.set(attribute_handle_list, streams.data(), sizeof streams, "the list of handles"));
  HARN_OK(attributes.set(attribute_job_list, &job, sizeof job, "the job"));
  Capabilities capabilities;
  if (request.container) {
    HARN_OK(fill(request, capabilities));
    HARN_OK(attributes.set(attribute_security_capabilities, &capabilities.whole, sizeof capabilities.whole, "the AppContainer"));
  }

  STARTUPINFOEXW start = {};
  start.StartupInfo.cb = sizeof start;
  start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  start.StartupInfo.hStdInput = streams[0];
  start.StartupInfo.hStdOutput = streams[1];
  start.StartupInfo.hStdError = streams[2];
  start.lpAttributeList = attributes.list();
  HARN_TRY(program, wide(request.program));
  HARN_TRY(line, wide(request.line));
  HARN_TRY(cwd, wide(request.cwd));
  std::wstring environment(request.environment.begin(), request.environment.end());
  PROCESS_INFORMATION made = {};
  const DWORD flags = CREATE_SUSPENDED | CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT;
  if (::CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE, flags, environment.data(), cwd.c_str(), &start.StartupInfo,
                       &made) == 0)
    return call_failed("CreateProcessW", request.program);
  return Child{.process = neutral(made.hProcess), .thread = neutral(made.hThread), .id = made.dwProcessId};
}

// The answer's size is only known by asking.
Result<std::vector<std::byte>> token_answer(HANDLE token, TOKEN_INFORMATION_CLASS kind, std::string_view what) {
  DWORD size = 0;
  ::GetTokenInformation(token, kind, nullptr, 0, &size);
  std::vector<std::byte> bytes(size);
  if (size == 0 || ::GetTokenInformation(token, kind, bytes.data(), size, &size) == 0) return call_failed("GetTokenInformation", what);
  return bytes;
}

Result<std::string> sid_text(PSID sid) {
  wchar_t* text = nullptr;
  if (sid == nullptr) return std::string();
  if (::ConvertSidToStringSidW(sid, &text) == 0) return call_failed("ConvertSidToStringSidW");
  auto out = narrow(text);
  ::LocalFree(text);
  return out;
}

Result<TokenFacts> token_of(Handle process) {
  HANDLE opened = nullptr;
  if (::OpenProcessToken(native(process), TOKEN_QUERY, &opened) == 0) return call_failed("OpenProcessToken");
  const UniqueHandle token(opened);
  TokenFacts out;
  DWORD is_container = 0;
  DWORD size = sizeof is_container;
  if (::GetTokenInformation(opened, TokenIsAppContainer, &is_container, sizeof is_container, &size) == 0)
    return call_failed("GetTokenInformation", "whether it is an AppContainer");
  out.is_container = is_container != 0;
  if (!out.is_container) return out;
  HARN_TRY(container, token_answer(opened, TokenAppContainerSid, "the AppContainer"));
  HARN_TRY(sid, sid_text(reinterpret_cast<const TOKEN_APPCONTAINER_INFORMATION*>(container.data())->TokenAppContainer));
  out.sid = std::move(sid);
  HARN_TRY(capabilities, token_answer(opened, TokenCapabilities, "capabilities"));
  const auto* groups = reinterpret_cast<const TOKEN_GROUPS*>(capabilities.data());
  for (DWORD i = 0; i < groups->GroupCount; ++i) {
    HARN_TRY(text, sid_text(groups->Groups[i].Sid));
    out.capabilities.push_back(std::move(text));
  }
  return out;
}

Result<bool> is_in_job(Handle process, Handle job) {
  BOOL inside = FALSE;
  if (::IsProcessInJob(native(process), native(job), &inside) == 0) return call_failed("IsProcessInJob");
  return inside != FALSE;
}

Status resume(Handle thread) {
  return ::ResumeThread(native(thread)) == static_cast<DWORD>(-1) ? Status(call_failed("ResumeThread")) : Status();
}

}  // namespace

void use_processes(Calls& calls) {
  calls.spawn_suspended = spawn_suspended;
  calls.token_of = token_of;
  calls.is_in_job = is_in_job;
  calls.resume = resume;
  calls.end_process = [](Handle process) {
    ::TerminateProcess(native(process), static_cast<UINT>(-9));
    ::WaitForSingleObject(native(process), INFINITE);
  };
  calls.close = [](Handle handle) { ::CloseHandle(native(handle)); };
}

Status takes_container_attribute(const std::string& sid) {
  Attributes attributes;
  HARN_OK(attributes.make(1));
  Capabilities capabilities;
  HARN_OK(fill({.container = sid}, capabilities));
  return attributes.set(attribute_security_capabilities, &capabilities.whole, sizeof capabilities.whole, "the AppContainer");
}

bool is_file(const AbsPath& path) {
  const auto name = wide(native_path(path));
  const auto attributes = name ? ::GetFileAttributesW(name->c_str()) : INVALID_FILE_ATTRIBUTES;
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
}

std::string batch_interpreter() {
  std::array<wchar_t, 512> buffer = {};
  const auto length = ::GetSystemDirectoryW(buffer.data(), static_cast<UINT>(buffer.size()));
  return narrow({buffer.data(), length}).value_or("C:\\Windows\\System32") + "\\cmd.exe";
}

Calls real_calls(const AbsPath& journals) {
  Calls calls;
  use_containers(calls);
  use_lists(calls);
  use_journals(journals, calls);
  use_jobs(calls);
  use_processes(calls);
  return calls;
}

}  // namespace harn::run::windows
