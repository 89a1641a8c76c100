// SPDX-License-Identifier: Apache-2.0
// AppContainer profiles. Whatever the policy, these four functions are looked up by name: wine 8 has none of them.
#include <windows.h>
// after windows.h
#include <sddl.h>
#include <userenv.h>

#include "run/windows/os/native.h"
#include "run/windows/os/real_calls.h"

namespace harn::run::windows {
namespace {

constexpr const char* library = "userenv.dll";
using CreateProfile = HRESULT(WINAPI*)(PCWSTR, PCWSTR, PCWSTR, PSID_AND_ATTRIBUTES, DWORD, PSID*);
using DeriveSid = HRESULT(WINAPI*)(PCWSTR, PSID*);
using FolderPath = HRESULT(WINAPI*)(PCWSTR, PWSTR*);
using DeleteProfile = HRESULT(WINAPI*)(PCWSTR);

// The call's own numbers are HRESULTs; those that wrap an error of the system show that one.
DWORD code_of(HRESULT result) {
  const auto bits = static_cast<DWORD>(result);
  return HRESULT_FACILITY(result) == FACILITY_WIN32 ? bits & 0xFFFF : bits;
}

// Takes the SID's memory.
Result<std::string> text_of(PSID sid) {
  wchar_t* text = nullptr;
  const bool printed = ::ConvertSidToStringSidW(sid, &text) != 0;
  const auto code = ::GetLastError();
  ::FreeSid(sid);
  if (!printed) return call_failed("ConvertSidToStringSidW", {}, code);
  auto out = narrow(text);
  ::LocalFree(text);
  return out;
}

Result<std::string> derive_sid(const std::string& name) {
  HARN_TRY(call, exported<DeriveSid>(library, "DeriveAppContainerSidFromAppContainerName"));
  HARN_TRY(text, wide(name));
  PSID sid = nullptr;
  if (const auto result = call(text.c_str(), &sid); FAILED(result))
    return call_failed("DeriveAppContainerSidFromAppContainerName", name, code_of(result));
  return text_of(sid);
}

Result<std::string> create_container(const std::string& name) {
  HARN_TRY(call, exported<CreateProfile>(library, "CreateAppContainerProfile"));
  HARN_TRY(text, wide(name));
  PSID sid = nullptr;
  // Capabilities belong to the process, not to the profile; one that exists already is somebody else's: an error.
  const auto result = call(text.c_str(), text.c_str(), L"A command run by Harn", nullptr, 0, &sid);
  if (FAILED(result)) return call_failed("CreateAppContainerProfile", name, code_of(result));
  return text_of(sid);
}

Result<std::string> container_folder(const std::string& sid) {
  HARN_TRY(call, exported<FolderPath>(library, "GetAppContainerFolderPath"));
  HARN_TRY(text, wide(sid));
  wchar_t* path = nullptr;
  if (const auto result = call(text.c_str(), &path); FAILED(result)) return call_failed("GetAppContainerFolderPath", sid, code_of(result));
  auto folder = narrow(path);
  // The profile has it as a rule; programs fail without it in ways nobody would trace back to this.
  const auto temp = std::wstring(path) + L"\\Temp";
  const bool made = ::CreateDirectoryW(temp.c_str(), nullptr) != 0 || ::GetLastError() == ERROR_ALREADY_EXISTS;
  const auto code = ::GetLastError();
  ::CoTaskMemFree(path);
  if (!made) return call_failed("CreateDirectoryW", *folder + "\\Temp", code);
  return folder;
}

Status delete_container(const std::string& name) {
  HARN_TRY(call, exported<DeleteProfile>(library, "DeleteAppContainerProfile"));
  HARN_TRY(text, wide(name));
  const auto result = call(text.c_str());
  if (SUCCEEDED(result) || code_of(result) == ERROR_FILE_NOT_FOUND || code_of(result) == ERROR_NOT_FOUND) return {};
  return call_failed("DeleteAppContainerProfile", name, code_of(result));
}

}  // namespace

Status has_container_functions() {
  for (const auto* name :
       {"CreateAppContainerProfile", "DeriveAppContainerSidFromAppContainerName", "GetAppContainerFolderPath", "DeleteAppContainerProfile"})
    HARN_OK(sys::find_export(library, name));
  return {};
}

void use_containers(Calls& calls) {
  calls.derive_sid = derive_sid;
  calls.create_container = create_container;
  calls.container_folder = container_folder;
  calls.delete_container = delete_container;
}

}  // namespace harn::run::windows
