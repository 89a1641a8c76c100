// SPDX-License-Identifier: Apache-2.0
// The edge to Windows: handles that close themselves, text in its width, errors in its words.
#pragma once

#include <windows.h>

#include <string>
#include <string_view>
#include <utility>

#include "harn/result.h"

namespace harn::sys {

class UniqueHandle {
 public:
  UniqueHandle() = default;
  explicit UniqueHandle(HANDLE handle) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(other.release()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~UniqueHandle() { reset(); }

  HANDLE get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  HANDLE release() { return std::exchange(handle_, nullptr); }
  void reset(HANDLE handle = nullptr) {
    if (handle_ != nullptr) ::CloseHandle(handle_);
    handle_ = handle;
  }

 private:
  HANDLE handle_ = nullptr;
};

Result<std::wstring> wide(std::string_view text);
Result<std::string> narrow(std::wstring_view text);

// "CreateProcessW of 'x' failed: Access is denied. (5)"
std::unexpected<Error> call_failed(std::string_view call, std::string_view about, DWORD code);
std::unexpected<Error> call_failed(std::string_view call, std::string_view about = {});  // with GetLastError()

// A function by name: older systems lack some, and a program that links to one would not start there.
Result<void*> find_export(const char* library, const char* name);
template <class Function>
Result<Function> exported(const char* library, const char* name) {
  HARN_TRY(address, find_export(library, name));
  return reinterpret_cast<Function>(address);
}

}  // namespace harn::sys
