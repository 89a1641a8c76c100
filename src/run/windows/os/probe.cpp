// SPDX-License-Identifier: Apache-2.0
// A program for tests to run: it does what its first word says, and tells what it saw.
#include <windows.h>
// after windows.h
#include <shellapi.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

std::vector<std::wstring> words() {
  int count = 0;
  wchar_t** list = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  std::vector<std::wstring> out(list, list + count);
  ::LocalFree(list);
  return out;
}

void write_all(HANDLE to, const char* bytes, DWORD size) {
  DWORD written = 0;
  while (size != 0 && ::WriteFile(to, bytes, size, &written, nullptr) != 0) bytes += written, size -= written;
}

void say(const std::string& text) { write_all(::GetStdHandle(STD_OUTPUT_HANDLE), text.data(), static_cast<DWORD>(text.size())); }

// UTF-16 units as hexadecimal numbers, so that nothing on the way can change them.
std::string in_hex(const std::wstring& text) {
  std::string out;
  for (const wchar_t unit : text) {
    char digits[8];
    std::snprintf(digits, sizeof digits, "%04x", static_cast<unsigned>(unit));
    out += digits;
  }
  return out + "\n";
}

int copy_input() {
  char buffer[65536];
  DWORD got = 0;
  while (::ReadFile(::GetStdHandle(STD_INPUT_HANDLE), buffer, sizeof buffer, &got, nullptr) != 0 && got != 0)
    write_all(::GetStdHandle(STD_OUTPUT_HANDLE), buffer, got);
  return 0;
}

// Starts itself once more, to sleep, and says with which process id.
void start_another(const std::wstring& self) {
  std::wstring line = L"\"" + self + L"\" sleep 600000";
  STARTUPINFOW start = {};
  start.cb = sizeof start;
  PROCESS_INFORMATION made = {};
  if (::CreateProcessW(self.c_str(), line.data(), nullptr, nullptr, FALSE, CREATE_NO_WINDOW, nullptr, nullptr, &start, &made) == 0)
    return say("no\n");
  say(std::to_string(made.dwProcessId) + "\n");
}

int leave_mark(const std::wstring& file) {
  HANDLE made = ::CreateFileW(file.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (made == INVALID_HANDLE_VALUE) return 1;
  ::CloseHandle(made);
  return 0;
}

}  // namespace

int main() {
  const auto said = words();
  const auto word = said.size() > 1 ? said[1] : std::wstring();
  const auto value = said.size() > 2 ? said[2] : std::wstring();
  if (word == L"words") {
    for (std::size_t i = 2; i < said.size(); ++i) say(in_hex(said[i]));
    return 0;
  }
  if (word == L"exit") return std::stoi(value);
  if (word == L"crash") ::RaiseException(0xC0000005, 0, 0, nullptr);
  if (word == L"sleep") ::Sleep(static_cast<DWORD>(std::stoul(value)));
  if (word == L"cat") return copy_input();
  if (word == L"mark") return leave_mark(value);
  if (word == L"flood")
    for (int i = 0; i < std::stoi(value); ++i) say(std::string(1000, 'x'));
  if (word == L"complain") write_all(::GetStdHandle(STD_ERROR_HANDLE), "oh\n", 3);
  if (word == L"leave") start_another(said[0]);
  if (word == L"gather") {
    start_another(said[0]);
    ::Sleep(600000);
  }
  if (word == L"burn")
    while (true) {
    }
  if (word == L"variable") {
    wchar_t text[1024] = {};
    ::GetEnvironmentVariableW(value.c_str(), text, 1024);
    say(in_hex(text));
  }
  if (word == L"handle") {
    DWORD flags = 0;
    say(::GetHandleInformation(reinterpret_cast<HANDLE>(std::stoull(value)), &flags) != 0 ? "mine\n" : "unknown\n");
  }
  return 0;
}
