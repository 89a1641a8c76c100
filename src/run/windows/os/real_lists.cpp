// SPDX-License-Identifier: Apache-2.0
// Access control lists of files and directories, as SDDL. Setting one hands its inheritable entries down to everything inside.
#include <windows.h>
// after windows.h
#include <aclapi.h>
#include <sddl.h>

#include <fmt/format.h>

#include "run/windows/os/native.h"
#include "run/windows/os/real_calls.h"
#include "run/windows/program.h"
#include "run/windows/sddl.h"
#include "sys/windows/paths.h"

namespace harn::run::windows {
namespace {

using GetInfo = DWORD(WINAPI*)(LPCWSTR, SE_OBJECT_TYPE, SECURITY_INFORMATION, PSID*, PSID*, PACL*, PACL*, PSECURITY_DESCRIPTOR*);
using SetInfo = DWORD(WINAPI*)(LPWSTR, SE_OBJECT_TYPE, SECURITY_INFORMATION, PSID, PSID, PACL, PACL);
using Print = BOOL(WINAPI*)(PSECURITY_DESCRIPTOR, DWORD, SECURITY_INFORMATION, LPWSTR*, PULONG);
using Parse = BOOL(WINAPI*)(LPCWSTR, DWORD, PSECURITY_DESCRIPTOR*, PULONG);
constexpr const char* library = "advapi32.dll";

// Freed with LocalFree.
template <class Pointer>
class Local {
 public:
  Local() = default;
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;
  ~Local() {
    if (value != nullptr) ::LocalFree(value);
  }
  Pointer value = nullptr;
};

Result<std::string> read_dacl(const AbsPath& path) {
  HARN_TRY(get, exported<GetInfo>(library, "GetNamedSecurityInfoW"));
  HARN_TRY(print, exported<Print>(library, "ConvertSecurityDescriptorToStringSecurityDescriptorW"));
  HARN_TRY(name, wide(native_path(path)));
  Local<PSECURITY_DESCRIPTOR> descriptor;
  const auto code = get(name.c_str(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, nullptr, nullptr, nullptr, nullptr, &descriptor.value);
  if (code != ERROR_SUCCESS) return call_failed("GetNamedSecurityInfoW", path.text(), code);
  Local<wchar_t*> text;
  if (print(descriptor.value, SDDL_REVISION_1, DACL_SECURITY_INFORMATION, &text.value, nullptr) == 0)
    return call_failed("ConvertSecurityDescriptorToStringSecurityDescriptorW", path.text());
  return narrow(text.value);
}

Status write_dacl(const AbsPath& path, const std::string& sddl) {
  HARN_TRY(set, exported<SetInfo>(library, "SetNamedSecurityInfoW"));
  HARN_TRY(parse, exported<Parse>(library, "ConvertStringSecurityDescriptorToSecurityDescriptorW"));
  HARN_TRY(wanted, parse_dacl(sddl));
  HARN_TRY(name, wide(native_path(path)));
  HARN_TRY(text, wide(sddl));
  Local<PSECURITY_DESCRIPTOR> descriptor;
  if (parse(text.c_str(), SDDL_REVISION_1, &descriptor.value, nullptr) == 0)
    return call_failed("ConvertStringSecurityDescriptorToSecurityDescriptorW", sddl);
  BOOL present = FALSE;
  BOOL defaulted = FALSE;
  PACL list = nullptr;
  if (::GetSecurityDescriptorDacl(descriptor.value, &present, &list, &defaulted) == 0)
    return call_failed("GetSecurityDescriptorDacl", path.text());
  // Writing no list would open the file to everybody.
  if (present == FALSE || list == nullptr) return call_failed("GetSecurityDescriptorDacl", path.text(), ERROR_INVALID_ACL);
  const SECURITY_INFORMATION what =
      DACL_SECURITY_INFORMATION | (wanted.is_protected ? PROTECTED_DACL_SECURITY_INFORMATION : UNPROTECTED_DACL_SECURITY_INFORMATION);
  const auto code = set(name.data(), SE_FILE_OBJECT, what, nullptr, nullptr, list, nullptr);
  return code == ERROR_SUCCESS ? Status() : Status(call_failed("SetNamedSecurityInfoW", path.text(), code));
}

// Nobody else may delete or move it while the handle is open, and a link is opened itself instead of being followed.
Result<Pinned> pin(const AbsPath& path) {
  HARN_TRY(name, wide(native_path(path)));
  HANDLE opened = ::CreateFileW(name.c_str(), READ_CONTROL | WRITE_DAC | FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
  if (opened == INVALID_HANDLE_VALUE) return call_failed("CreateFileW", path.text());
  const Held held(opened, [](void* handle) { ::CloseHandle(handle); });
  BY_HANDLE_FILE_INFORMATION facts = {};
  if (::GetFileInformationByHandle(opened, &facts) == 0) return call_failed("GetFileInformationByHandle", path.text());
  HARN_TRY(really, sys::final_path(opened, path.text()));
  return Pinned{.held = held,
                .really = std::move(really),
                .followed = (facts.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0,
                .identity = fmt::format("{:x}:{:x}{:08x}", facts.dwVolumeSerialNumber, facts.nFileIndexHigh, facts.nFileIndexLow)};
}

}  // namespace

void use_lists(Calls& calls) {
  calls.pin = pin;
  calls.read_dacl = read_dacl;
  calls.write_dacl = write_dacl;
}

}  // namespace harn::run::windows
