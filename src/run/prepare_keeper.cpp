// SPDX-License-Identifier: Apache-2.0
#include "run/prepare_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "run/letter_writer.h"
#include "run/prepare_stdio.h"
#include "sys/files.h"

namespace harn::run {
namespace {

auto failed(std::string_view call) { return fail(sys::os_failure(call, "for the keeper", errno, Stage::prepare)); }

}  // namespace

Status write_gifts(const KeeperSettings& settings, PreparedParts& parts) {
  auto& launch = parts.launch;
  // Away from the numbers they get.
  const auto give = [&](int fd) -> Status {
    sys::UniqueFd moved(::fcntl(fd, F_DUPFD_CLOEXEC, first_free_fd));
    if (!moved) return failed("fcntl");
    if (launch.kept_count == child::max_kept)
      return fail(Error{.code = ErrorCode::internal, .stage = Stage::prepare, .message = "the keeper is given too much"});
    launch.kept[launch.kept_count++] = parts.keep.fd(std::move(moved));
    return {};
  };
  LetterWriter letter;
  keeper::Letter head{.idle_ms = settings.idle_ms, .lifetime_ms = settings.lifetime_ms};
  head.before_count = static_cast<std::uint32_t>(parts.narrowing.steps().size());
  head.before = letter.steps(parts.narrowing);
  if (parts.ruleset >= 0) head.ruleset_fd = letter.place_of(parts.ruleset);
  if (settings.freezer != nullptr) {
    head.freezer = settings.freezer->kind;
    head.freezer_fd = letter.place_of(settings.freezer->state.get());
    head.members_fd = letter.place_of(settings.freezer->members.get());
    head.frozen_fd = letter.place_of(settings.freezer->frozen.get());
  }
  const auto fds = letter.fds();
  const auto text = std::move(letter).finish(head);
  const sys::UniqueFd file(::memfd_create("harn-template", MFD_CLOEXEC));
  if (!file) return failed("memfd_create");
  if (const int error = sys::write_all(file.get(), text); error != 0) return fail(sys::os_failure("write", "for the keeper", error));
  HARN_OK(give(settings.listener));
  HARN_OK(give(file.get()));
  for (const int fd : fds) HARN_OK(give(fd));
  return {};
}

}  // namespace harn::run
