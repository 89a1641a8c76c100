// SPDX-License-Identifier: Apache-2.0
#include "learn/programs.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/text.h"
#include "host/resolve_paths.h"
#include "sys/files.h"
#include "sys/unique_fd.h"

namespace harn::learn {
namespace {

constexpr int most_interpreters = 4;  // as the kernel
constexpr std::size_t head_bytes = 4096;

std::string head_of(const AbsPath& path) {
  const sys::UniqueFd file(::open(path.text().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::array<char, head_bytes> bytes = {};
  const auto got = file ? ::pread(file.get(), bytes.data(), bytes.size(), 0) : -1;
  return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string();
}

template <class T>
bool take(std::string_view bytes, std::size_t at, T& value) {
  if (at > bytes.size() || bytes.size() - at < sizeof value) return false;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return true;
}

std::string loader_in(std::string_view head) {
  Elf64_Ehdr file = {};
  if (!take(head, 0, file) || file.e_ident[EI_CLASS] != ELFCLASS64) return {};
  for (unsigned i = 0; i < file.e_phnum; ++i) {
    Elf64_Phdr part = {};
    if (!take(head, file.e_phoff + std::size_t{i} * sizeof part, part)) return {};
    if (part.p_type != PT_INTERP || part.p_offset >= head.size()) continue;
    const auto text = head.substr(part.p_offset, part.p_filesz);
    return std::string(text.substr(0, text.find('\0')));
  }
  return {};
}

}  // namespace

std::string interpreter_in(std::string_view head) {
  if (head.starts_with(ELFMAG)) return loader_in(head);
  if (!head.starts_with("#!")) return {};
  auto line = base::trim(head.substr(2, head.find('\n') == std::string_view::npos ? head.npos : head.find('\n') - 2));
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

std::vector<AbsPath> opened_to_start(const AbsPath& program) {
  std::vector<AbsPath> out;
  std::optional<AbsPath> next = program;
  for (int i = 0; next && i <= most_interpreters; ++i) {
    out.push_back(*next);
    const auto way = host::way_to(*next);
    if (!way) break;
    out.insert(out.end(), way->links.begin(), way->links.end());
    out.push_back(way->end);
    const auto text = interpreter_in(head_of(way->end));
    const auto path = AbsPath::parse(text);
    next = path ? std::optional(*path) : std::nullopt;
  }
  return out;
}

std::optional<AbsPath> find_program(const std::string& word, const AbsPath& cwd, const std::string& search_path) {
  const auto usable = [](const std::string& text) -> std::optional<AbsPath> {
    const auto path = AbsPath::parse(text);
    return path && sys::is_executable(*path) ? std::optional(*path) : std::nullopt;
  };
  if (word.find('/') != std::string::npos) return usable(word.front() == '/' ? word : cwd.text() + "/" + word);
  for (const auto directory : base::split(search_path, ':'))
    if (auto found = directory.empty() ? std::nullopt : usable(std::string(directory) + "/" + word)) return found;
  return std::nullopt;
}

}  // namespace harn::learn
