// SPDX-License-Identifier: Apache-2.0
// What sys/files.h asks, for the part of Harn that runs on Windows.
#include "sys/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/windows/native.h"
#include "sys/windows/paths.h"

namespace harn::sys {
namespace {

std::filesystem::path native_name(const AbsPath& path) {
  auto text = wide(path.text());
  return text ? std::filesystem::path(*text).make_preferred() : std::filesystem::path();
}

FileType type_of_attributes(DWORD attributes) {
  if (attributes == INVALID_FILE_ATTRIBUTES) return FileType::missing;
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return FileType::link;
  if ((attributes & FILE_ATTRIBUTE_DEVICE) != 0) return FileType::device;
  return (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? FileType::directory : FileType::file;
}

std::unexpected<Error> failed(std::string_view call, const AbsPath& path, const std::error_code& problem) {
  return call_failed(call, path.text(), static_cast<DWORD>(problem.value()));
}

}  // namespace

Result<AbsPath> final_path(void* file, std::string_view about) {
  std::wstring buffer(32768, L'\0');
  const auto length = ::GetFinalPathNameByHandleW(file, buffer.data(), static_cast<DWORD>(buffer.size()), FILE_NAME_NORMALIZED);
  if (length == 0 || length >= buffer.size()) return call_failed("GetFinalPathNameByHandleW", about);
  HARN_TRY(text, narrow({buffer.data(), length}));
  std::string_view rest = text;
  if (rest.starts_with("\\\\?\\")) rest.remove_prefix(4);
  return AbsPath::parse(rest);
}

FileType type_of(const AbsPath& path) { return type_of_attributes(::GetFileAttributesW(native_name(path).c_str())); }

Result<AbsPath> real_path(const AbsPath& path) {
  const UniqueHandle file(::CreateFileW(native_name(path).c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                        OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  if (!file) return call_failed("CreateFileW", path.text());
  return final_path(file.get(), path.text());
}

FileType target_type_of(const AbsPath& path) { return find(path).type; }

Found find(const AbsPath& path) {
  const auto type = type_of(path);
  if (type == FileType::missing) return {};
  auto real = real_path(path);
  // There, and not to be opened even to ask its name: as good as a link into nothing, but its own name stays guarded.
  if (!real) return {.type = type == FileType::link ? FileType::other : type, .real = path, .locked = true};
  return {.type = type == FileType::link ? type_of(*real) : type, .real = std::move(*real)};
}

Result<std::string> read_file(const AbsPath& path, std::size_t max_bytes) {
  std::error_code problem;
  const auto name = native_name(path);
  const auto size = std::filesystem::file_size(name, problem);
  if (problem) return failed("GetFileSize", path, problem);
  if (size > max_bytes)
    return fail(Error{.code = ErrorCode::io,
                      .stage = Stage::load,
                      .message = fmt::format("{} is longer than {} bytes", base::quoted(path.text()), max_bytes),
                      .hint = "shorten it"});
  std::ifstream in(name, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad() || !in.is_open()) return call_failed("ReadFile", path.text());
  return text;
}

Result<std::vector<Entry>> list_entries(const AbsPath& path, std::size_t max_names) {
  std::vector<Entry> out;
  std::error_code problem;
  for (std::filesystem::directory_iterator files(native_name(path), problem), end; !problem && files != end; files.increment(problem)) {
    HARN_TRY(name, narrow(files->path().filename().wstring()));
    if (out.size() == max_names) return call_failed("FindNextFileW", path.text(), ERROR_MORE_DATA);
    auto type = type_of(path.join(name));
    out.push_back({.name = std::move(name), .type = type});
  }
  if (problem) return failed("FindFirstFileW", path, problem);
  std::ranges::sort(out, {}, &Entry::name);
  return out;
}

Result<std::vector<std::string>> list_directory(const AbsPath& path, std::size_t max_names) {
  HARN_TRY(entries, list_entries(path, max_names));
  std::vector<std::string> names;
  for (auto& entry : entries) names.push_back(std::move(entry.name));
  return names;
}

}  // namespace harn::sys
