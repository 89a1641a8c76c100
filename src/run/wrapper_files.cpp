// SPDX-License-Identifier: Apache-2.0
#include "run/wrapper_files.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/syscalls/bpf.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr std::string_view mark = "@file:";

Result<sys::UniqueFd> hold(const std::string& name, std::string_view bytes) {
  sys::UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC));
  const bool written = fd && ::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  if (written && ::lseek(fd.get(), 0, SEEK_SET) == 0) return fd;
  auto error = sys::os_failure("memfd_create", name, errno);
  error.stage = Stage::prepare;
  return fail(std::move(error));
}

Result<std::string> contents(const Wrapper& wrapper, std::string_view name) {
  if (name == "seccomp.bpf" && wrapper.syscalls) {
    HARN_TRY(program, plan::compile_filter(*wrapper.syscalls));
    return std::string(reinterpret_cast<const char*>(program.data()), program.size() * sizeof program.front());
  }
  for (const auto& file : wrapper.files)
    if (file.name == name) return file.text;
  return fail(Error{.code = ErrorCode::internal,
                    .stage = Stage::prepare,
                    .message = fmt::format("the plan names the file {} and does not hold it", base::quoted(name))});
}

}  // namespace

Result<std::vector<std::string>> fill_wrapper_words(const Wrapper& wrapper, Keep& keep, ScriptWriter& inner) {
  std::vector<std::string> words = wrapper.argv;
  std::map<std::string, int> held;
  for (auto& word : words) {
    const auto at = word.find(mark);
    if (at == std::string::npos) continue;
    const auto name = word.substr(at + mark.size());
    if (!held.contains(name)) {
      HARN_TRY(bytes, contents(wrapper, name));
      HARN_TRY(fd, hold(name, bytes));
      held[name] = keep.fd(std::move(fd));
      inner.add({.op = child::Op::keep_fd, .number = held[name]}, fmt::format("hand over {}", name));
    }
    word = word.substr(0, at) + std::to_string(held[name]);
  }
  return words;
}

}  // namespace harn::run
