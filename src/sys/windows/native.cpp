// SPDX-License-Identifier: Apache-2.0
#include "sys/windows/native.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf16.h"

namespace harn::sys {
namespace {

static_assert(sizeof(wchar_t) == sizeof(char16_t));

std::string words_for(DWORD code) {
  std::array<wchar_t, 512> buffer = {};
  const auto length = ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, code, 0, buffer.data(),
                                       static_cast<DWORD>(buffer.size()), nullptr);
  const auto text = narrow({buffer.data(), length});
  return text ? std::string(base::trim(*text)) : std::string();
}

bool means_missing(DWORD code) { return code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND || code == ERROR_BAD_NETPATH; }

}  // namespace

Result<std::wstring> wide(std::string_view text) {
  HARN_TRY(units, base::to_utf16(text));
  return std::wstring(units.begin(), units.end());
}

Result<std::string> narrow(std::wstring_view text) { return base::to_utf8(std::u16string(text.begin(), text.end())); }

std::unexpected<Error> call_failed(std::string_view call, std::string_view about, DWORD code) {
  const auto of = about.empty() ? std::string() : " of " + base::quoted(about);
  return fail(Error{.code = means_missing(code) ? ErrorCode::io : ErrorCode::os,
                    .stage = Stage::spawn,
                    .os_error = static_cast<int>(code),
                    .message = fmt::format("{}{} failed: {} ({})", call, of, words_for(code), code),
                    .hint = "'harn doctor' shows what this host can do"});
}

std::unexpected<Error> call_failed(std::string_view call, std::string_view about) { return call_failed(call, about, ::GetLastError()); }

Result<void*> find_export(const char* library, const char* name) {
  // From the system's own directory, never from the one the program or the command stands in.
  const auto file = wide(library);
  const HMODULE module = file ? ::LoadLibraryExW(file->c_str(), nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32) : nullptr;
  auto* address = module == nullptr ? nullptr : reinterpret_cast<void*>(::GetProcAddress(module, name));
  if (address != nullptr) return address;
  return fail(Error{.code = ErrorCode::not_available,
                    .stage = Stage::prepare,
                    .message = fmt::format("this Windows has no {} in {}", name, library),
                    .hint = "commands can be confined on Windows 10 and later"});
}

}  // namespace harn::sys
