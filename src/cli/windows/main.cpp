// SPDX-License-Identifier: Apache-2.0
// The edge of harn.exe: what Windows hands over in UTF-16 is read here once and passed on as values.
#include <windows.h>
// after windows.h
#include <shellapi.h>

#include <cstdio>

#include "cli/verbs.h"
#include "sys/windows/native.h"

namespace {

bool write_all(DWORD stream, std::string_view text) {
  while (!text.empty()) {
    DWORD written = 0;
    if (::WriteFile(::GetStdHandle(stream), text.data(), static_cast<DWORD>(text.size()), &written, nullptr) == 0) return false;
    text.remove_prefix(written);
  }
  return true;
}

// A name or value that is no text cannot be handed on unchanged, so it is not handed on.
std::map<std::string, std::string> read_environment() {
  std::map<std::string, std::string> out;
  wchar_t* block = ::GetEnvironmentStringsW();
  for (const wchar_t* at = block; *at != 0; at += std::wcslen(at) + 1) {
    const auto entry = harn::sys::narrow(at);
    const auto equals = entry ? entry->find('=', 1) : std::string::npos;
    if (equals != std::string::npos) out.try_emplace(entry->substr(0, equals), entry->substr(equals + 1));
  }
  ::FreeEnvironmentStringsW(block);
  return out;
}

bool is_console(DWORD stream) {
  DWORD mode = 0;
  return ::GetConsoleMode(::GetStdHandle(stream), &mode) != 0;
}

}  // namespace

int main() {
  harn::cli::Caller caller;
  int count = 0;
  wchar_t** words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  for (int i = 1; i < count; ++i) {
    auto word = harn::sys::narrow(words[i]);
    if (!word) {
      write_all(STD_ERROR_HANDLE, "harn: an argument is not valid Unicode\n");
      return harn::cli::exit_usage;
    }
    caller.words.push_back(std::move(*word));
  }
  ::LocalFree(words);
  caller.environment = read_environment();
  wchar_t cwd[32768] = {};
  const auto length = ::GetCurrentDirectoryW(32768, cwd);
  const auto text = harn::sys::narrow({cwd, length});
  const auto path = harn::AbsPath::parse(text ? *text : "");
  caller.cwd_exists = path.has_value();
  if (path) caller.cwd = *path;
  caller.terminal = is_console(STD_OUTPUT_HANDLE);
  caller.input_terminal = is_console(STD_INPUT_HANDLE);
  caller.tell = [](std::string_view line) { write_all(STD_ERROR_HANDLE, line); };
  caller.write = [](std::string_view piece) { return write_all(STD_OUTPUT_HANDLE, piece); };
  const auto reply = harn::cli::answer(caller);
  write_all(STD_ERROR_HANDLE, reply.err);
  const bool told = write_all(STD_OUTPUT_HANDLE, reply.out);
  const int code = told || reply.exit_code != 0 ? reply.exit_code : harn::cli::exit_usage;
  // A thread may still wait for input nobody types; returning would wait for it.
  std::fflush(nullptr);
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(code));
  return code;
}
