// SPDX-License-Identifier: Apache-2.0
#include "run/wrapper_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/syscalls/bpf.h"
#include "sys/files.h"

namespace harn::run {
namespace {

constexpr std::string_view mark = "@file:";
constexpr std::string_view status_word = "@status";

Result<sys::UniqueFd> hold(const std::string& name, std::string_view bytes) {
  sys::UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC));
  const bool written = fd && ::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  if (written && ::lseek(fd.get(), 0, SEEK_SET) == 0) return fd;
  auto error = sys::os_failure("memfd_create", name, errno, Stage::prepare);
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

Error failed(std::string_view call, int error) { return sys::os_failure(call, "for the wrapper", error, Stage::prepare); }

class Filling {
 public:
  Filling(const Wrapper& wrapper, ScriptWriter& inner) : wrapper_(wrapper), inner_(inner) {}

  Status fill(std::string& word) {
    if (word == status_word) {
      HARN_TRY(fd, report_pipe());
      word = std::to_string(fd);
      return {};
    }
    const auto at = word.find(mark);
    if (at == std::string::npos) return {};
    const auto name = word.substr(at + mark.size());
    if (!held_.contains(name)) {
      HARN_TRY(bytes, contents(wrapper_, name));
      HARN_TRY(fd, hold(name, bytes));
      held_[name] = hand_over(std::move(fd), name);
    }
    word = word.substr(0, at) + std::to_string(held_[name]);
    return {};
  }
  sys::UniqueFd take_status() { return std::move(status_); }

 private:
  int hand_over(sys::UniqueFd fd, std::string_view name) {
    const int number = inner_.keep().fd(std::move(fd));
    inner_.add({.op = child::Op::keep_fd, .number = number}, fmt::format("hand over {}", name));
    return number;
  }

  Result<int> report_pipe() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return fail(failed("pipe2", errno));
    status_ = sys::UniqueFd(ends[0]);
    return hand_over(sys::UniqueFd(ends[1]), "the wrapper's report");
  }

  const Wrapper& wrapper_;
  ScriptWriter& inner_;
  std::map<std::string, int> held_ = {};
  sys::UniqueFd status_ = {};
};

}  // namespace

Result<FilledWrapper> fill_wrapper_words(const Wrapper& wrapper, std::size_t command_words, ScriptWriter& inner) {
  Filling filling(wrapper, inner);
  FilledWrapper out{.argv = wrapper.argv};
  const auto own_words = out.argv.size() - std::min(out.argv.size(), command_words);
  for (std::size_t i = 0; i < own_words; ++i) HARN_OK(filling.fill(out.argv[i]));
  out.status = filling.take_status();
  return out;
}

}  // namespace harn::run
