// SPDX-License-Identifier: Apache-2.0
// Journals: one file per run, complete or absent, and one lock for whoever changes lists.
#include <windows.h>
// after windows.h
#include <objbase.h>
#include <shlobj.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "run/windows/os/native.h"
#include "run/windows/os/real_calls.h"
#include "run/windows/program.h"

namespace harn::run::windows {
namespace {

constexpr DWORD longest_wait = 60'000;  // for others that change lists; large trees take their time
constexpr DWORD look_again = 10;
constexpr std::uintmax_t largest_journal = 16u << 20;

Result<std::wstring> file_of(const AbsPath& directory, const std::string& name) {
  return wide(native_path(directory.join(name + ".json")));
}

Status make_directory(const AbsPath& directory) {
  HARN_TRY(name, wide(native_path(directory)));
  std::error_code problem;
  std::filesystem::create_directories(name, problem);
  return problem ? Status(call_failed("CreateDirectoryW", directory.text(), static_cast<DWORD>(problem.value()))) : Status();
}

// A file that nobody else can open meanwhile: it holds between sessions of the user too, and ends with its owner.
Result<Held> lock_journals(const AbsPath& directory) {
  HARN_OK(make_directory(directory));
  HARN_TRY(name, wide(native_path(directory.join("lock"))));
  const auto until = ::GetTickCount64() + longest_wait;
  while (true) {
    UniqueHandle file(::CreateFileW(name.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
    if (file) return Held(file.release(), [](void* handle) { ::CloseHandle(handle); });
    if (::GetLastError() != ERROR_SHARING_VIOLATION) return call_failed("CreateFileW", directory.join("lock").text());
    if (::GetTickCount64() >= until)
      return fail(Error{.code = ErrorCode::os,
                        .stage = Stage::prepare,
                        .message = "another run has been changing access control lists for a minute",
                        .hint = "try again, or end it"});
    ::Sleep(look_again);
  }
}

// On disk before it counts, and under its name only when it is whole.
Status save_journal(const AbsPath& directory, const std::string& name, const std::string& text) {
  HARN_OK(make_directory(directory));
  HARN_TRY(target, file_of(directory, name));
  const auto fresh = target + L".new";
  {
    const UniqueHandle file(::CreateFileW(fresh.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!file) return call_failed("CreateFileW", name);
    DWORD written = 0;
    if (::WriteFile(file.get(), text.data(), static_cast<DWORD>(text.size()), &written, nullptr) == 0 || written != text.size())
      return call_failed("WriteFile", name);
    if (::FlushFileBuffers(file.get()) == 0) return call_failed("FlushFileBuffers", name);
  }
  if (::MoveFileExW(fresh.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) == 0)
    return call_failed("MoveFileExW", name);
  return {};
}

Status remove_journal(const AbsPath& directory, const std::string& name) {
  HARN_TRY(target, file_of(directory, name));
  if (::DeleteFileW(target.c_str()) != 0 || ::GetLastError() == ERROR_FILE_NOT_FOUND) return {};
  return call_failed("DeleteFileW", name);
}

Result<std::vector<std::pair<std::string, std::string>>> list_journals(const AbsPath& directory) {
  HARN_TRY(name, wide(native_path(directory)));
  std::vector<std::pair<std::string, std::string>> out;
  std::error_code problem;
  std::filesystem::directory_iterator files(name, problem);
  if (problem == std::errc::no_such_file_or_directory) return out;
  for (; !problem && files != std::filesystem::directory_iterator(); files.increment(problem)) {
    const auto& path = files->path();
    if (path.extension() != L".json") continue;
    HARN_TRY(stem, narrow(path.stem().wstring()));
    std::error_code unknown;
    std::string text;
    if (std::filesystem::file_size(path, unknown) <= largest_journal && !unknown) {
      std::ifstream in(path, std::ios::binary);
      text.assign(std::istreambuf_iterator<char>(in), {});
    }
    out.emplace_back(std::move(stem), std::move(text));
  }
  if (problem) return call_failed("FindFirstFileW", directory.text(), static_cast<DWORD>(problem.value()));
  return out;
}

std::uint64_t start_of(HANDLE process) {
  FILETIME made = {};
  FILETIME other[3] = {};
  if (::GetProcessTimes(process, &made, &other[0], &other[1], &other[2]) == 0) return 0;
  return (std::uint64_t{made.dwHighDateTime} << 32 | made.dwLowDateTime) & 0x7FFF'FFFF'FFFF'FFFF;
}

// What cannot be opened for another reason than that it is gone counts as running: its lists are left alone.
bool is_running(std::uint64_t owner, std::uint64_t started) {
  const UniqueHandle process(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, static_cast<DWORD>(owner)));
  if (!process) return ::GetLastError() != ERROR_INVALID_PARAMETER;
  if (::WaitForSingleObject(process.get(), 0) == WAIT_OBJECT_0) return false;
  const auto now = start_of(process.get());
  return now == 0 || now == started;
}

}  // namespace

Result<AbsPath> journal_directory() {
  wchar_t* folder = nullptr;
  const auto result = ::SHGetKnownFolderPath(FOLDERID_LocalAppData, 0, nullptr, &folder);
  if (FAILED(result)) return call_failed("SHGetKnownFolderPath", "local application data", static_cast<DWORD>(result));
  const auto text = narrow(folder);
  ::CoTaskMemFree(folder);
  if (!text) return fail(text.error());
  HARN_TRY(path, AbsPath::parse(*text));
  return path.join("harn/journal");
}

void use_journals(const AbsPath& directory, Calls& calls) {
  calls.journal_directory = directory;
  calls.self = {::GetCurrentProcessId(), start_of(::GetCurrentProcess())};
  calls.lock_journals = [directory] { return lock_journals(directory); };
  calls.save_journal = [directory](const std::string& name, const std::string& text) { return save_journal(directory, name, text); };
  calls.remove_journal = [directory](const std::string& name) { return remove_journal(directory, name); };
  calls.list_journals = [directory] { return list_journals(directory); };
  calls.is_running = is_running;
}

}  // namespace harn::run::windows
