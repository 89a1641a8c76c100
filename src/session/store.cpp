// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "session/entry.h"
#include "session/errors.h"
#include "session/record.h"
#include "session/short_lived_file.h"
#include "sys/files.h"
#include "sys/remove_tree.h"

namespace harn::session {
namespace {

constexpr std::size_t longest_record = 4u << 20;
constexpr std::size_t most_sessions = 100'000;
constexpr std::string_view record_name = "session.json";

// Another boot has another runtime directory; what is left of the old one is looked for in the record.
bool is_there(const AbsPath& path) { return sys::type_of(path) != sys::FileType::missing; }

Status remove_directory(const AbsPath& path) {
  if (!is_there(path)) return {};
  const sys::UniqueFd fd(::open(path.text().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd) sys::empty_directory(fd.get());
  if (::rmdir(path.text().c_str()) != 0 && errno != ENOENT) return fail(sys::os_failure("rmdir", path.text(), errno));
  return {};
}

}  // namespace

Places places_for(const embed::Environment& environment) {
  // One runtime directory may serve several state directories, and both may have a session of one name.
  const auto state = embed::state_directory(environment);
  return {.records = records_for(environment),
          .files = state.parent().join("harn-sessions"),
          .runtime = embed::facts_directory(environment).join("sessions-run").join(base::sha256_hex(state.text()).substr(0, 16))};
}

AbsPath records_for(const embed::Environment& environment) { return embed::state_directory(environment).join("sessions"); }

AbsPath place_of(const Places& places, const std::string& id) { return places.records.join(id); }
AbsPath files_of(const Places& places, const std::string& id) { return places.files.join(id); }
AbsPath socket_of(const Places& places, const std::string& id) { return places.runtime.join(id); }

SandboxResult<Record> load(const Places& places, const std::string& id) {
  HARN_SESSION_PASS(check_id(id));
  const auto text = sys::read_file(place_of(places, id).join(record_name), longest_record);
  if (!text && (text.error().os_error == ENOENT || text.error().os_error == ENOTDIR)) return not_found(id);
  if (!text) return std::unexpected(from(text.error(), Kind::io));
  return parse_record(*text);
}

SandboxResult<void> save(const Places& places, const Record& record) {
  drop_entry(place_of(places, record.id));
  HARN_SESSION_OK(put_file(record, place_of(places, record.id).join(record_name), print_record(record)), io);
  return {};
}

Status put_file(const Record& record, const AbsPath& file, std::string_view text) {
  const bool ends_with_the_machine = record.kept && !record.contained() && !record.overlay;
  return ends_with_the_machine ? replace_short_lived(file, text) : sys::replace_file(file, text);
}

SandboxResult<std::vector<std::string>> ids(const Places& places) {
  auto names = sys::list_directory(places.records, most_sessions);
  if (!names && names.error().os_error == ENOENT) return std::vector<std::string>();
  if (!names) return std::unexpected(from(std::move(names).error(), Kind::io));
  std::erase_if(*names, [](const std::string& name) { return !check_id(name); });
  return std::move(*names);
}

Result<std::optional<sys::UniqueFd>> hold(const Places& places, const std::string& id, bool wait) {
  const auto place = place_of(places, id);
  sys::UniqueFd fd(::open(place.text().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return fail(sys::os_failure("open", place.text(), errno));
  int result = -1;
  do result = ::flock(fd.get(), wait ? LOCK_EX : LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EWOULDBLOCK) return std::optional<sys::UniqueFd>();
  if (result != 0) return fail(sys::os_failure("flock", place.text(), errno));
  // Whoever held it before may have removed it.
  struct stat held = {};
  struct stat named = {};
  if (::fstat(fd.get(), &held) != 0 || ::stat(place.text().c_str(), &named) != 0 || held.st_ino != named.st_ino)
    return fail(sys::os_failure("open", place.text(), ENOENT));
  return std::optional<sys::UniqueFd>(std::move(fd));
}

// The record goes last: whatever is interrupted before is found and finished by the next.
Status forget(const Places& places, const Record& record) {
  HARN_OK(remove_directory(record.socket));
  HARN_OK(remove_directory(files_of(places, record.id)));
  return remove_directory(place_of(places, record.id));
}

std::string boot_id() {
  const auto text = sys::read_file(AbsPath::of("/proc/sys/kernel/random/boot_id"), 64);
  return text ? std::string(base::trim(*text)) : std::string();
}

std::uint64_t now_ms() {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace harn::session
