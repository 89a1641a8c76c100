// SPDX-License-Identifier: Apache-2.0
// A path is changed by exchanging what stands there for what is to stand there, and looking at what came
// out: whoever changed it between the last look and the exchange gets it back.
#include "workspace/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "sys/files.h"
#include "sys/random_number.h"
#include "workspace/content.h"

namespace harn::workspace {
namespace {

constexpr std::uint32_t permissions = 07777;
constexpr std::size_t longest_note = 1u << 16;
constexpr std::string_view meanwhile = "it was changed on the host meanwhile";

std::string fresh_name() { return fmt::format(".harn-apply-{:016x}", sys::random_number()); }

int move_name(int directory, const std::string& from, const std::string& to, unsigned flags) {
  return ::renameat2(directory, from.c_str(), directory, to.c_str(), flags) == 0 ? 0 : errno;
}

// Of exactly this file: a link that took its name meanwhile leads nowhere.
int set_mode(int directory, const std::string& name, std::uint32_t mode, const State& expected) {
  const sys::UniqueFd held(::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!held) return errno;
  const auto found = look(held.get(), "");
  if (found.inode != expected.inode || found.is_link()) return ENOENT;
  return ::chmod(fmt::format("/proc/self/fd/{}", held.get()).c_str(), mode & permissions) == 0 ? 0 : errno;
}

class Applier {
 public:
  struct Places {
    sys::UniqueFd upper = {};
    sys::UniqueFd lower = {};
    sys::UniqueFd record = {};  // the manifest's file, for what is put there
    sys::UniqueFd note = {};
  };
  Applier(Manifest& manifest, Places places) : manifest_(manifest), places_(std::move(places)) {}

  static Result<Places> open(const Layer& layer, const AbsPath& note) {
    Places out;
    HARN_TRY(upper, open_tree(layer.upper));
    HARN_TRY(lower, open_tree(layer.root));
    out.upper = std::move(upper);
    out.lower = std::move(lower);
    out.record = sys::UniqueFd(::open(layer.manifest.text().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
    if (!out.record) return fail(sys::os_failure("open", layer.manifest.text(), errno));
    out.note = sys::UniqueFd(::open(note.text().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!out.note) return fail(sys::os_failure("open", note.text(), errno));
    return out;
  }

  // Empty: done. Else what somebody else did.
  Result<std::string> one(const Change& change) {
    const auto at = split_path(change.path);
    auto parent = open_beneath(places_.lower.get(), at.parent);
    if (!parent) return "the directory around it is not there any more, or a link stands in its place: " + parent.error().message;
    const auto now = look(parent->get(), at.name);
    if (now != manifest_.at(change.path)) return std::string(meanwhile);
    HARN_TRY(told, change.kind == Kind::deleted ? take_away(parent->get(), at.name, change, now) : put(parent->get(), at, change, now));
    if (!told.empty()) return told;
    HARN_OK(manifest_.put(places_.record.get(), change.path, look(parent->get(), at.name)));
    return told;
  }

 private:
  // One write, so that it is there as a whole or not at all; what an earlier one left behind its end counts for nothing.
  Status announce(const std::string& path, const std::string& aside) {
    const auto text = path + "\n" + aside + "\n" + '\0';
    if (::pwrite(places_.note.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) return {};
    return fail(sys::os_failure("write", "what is being applied", errno));
  }

  static Result<std::string> failed(std::string_view call, const std::string& path, int error) {
    return fail(sys::os_failure(call, path, error));
  }

  Result<std::string> take_away(int parent, const std::string& name, const Change& change, const State& now) {
    if (now.is_directory()) {
      if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0) return std::string();
      if (errno == ENOTEMPTY || errno == EEXIST) return std::string("the host has names in it that stay");
      return failed("rmdir", change.path, errno);
    }
    const auto aside = fresh_name();
    HARN_OK(announce(change.path, aside));
    if (const int error = move_name(parent, name, aside, RENAME_NOREPLACE); error != 0) return failed("rename", change.path, error);
    if (look(parent, aside).same_file(now)) {
      ::unlinkat(parent, aside.c_str(), 0);
      return std::string();
    }
    move_name(parent, aside, name, RENAME_NOREPLACE);
    return std::string(meanwhile);
  }

  Result<std::string> put(int parent, const Split& at, const Change& change, const State& now) {
    if (change.kind == Kind::mode) {
      const int error = set_mode(parent, at.name, change.after.mode, now);
      if (error == ENOENT) return std::string(meanwhile);
      return error == 0 ? Result<std::string>(std::string()) : failed("chmod", change.path, error);
    }
    if (now.is_directory() || change.after.is_directory()) return put_directory(parent, at, change, now);
    HARN_TRY(from, open_beneath(places_.upper.get(), at.parent));
    const auto aside = fresh_name();
    HARN_OK(announce(change.path, aside));
    if (auto copied = copy_entry(from.get(), at.name, change.after, parent, aside); !copied) {
      ::unlinkat(parent, aside.c_str(), 0);
      return fail(std::move(copied).error());
    }
    return exchange(parent, at.name, aside, change.path, now);
  }

  static Result<std::string> exchange(int parent, const std::string& name, const std::string& aside, const std::string& path,
                                      const State& now) {
    const int error = move_name(parent, aside, name, now.exists() ? RENAME_EXCHANGE : RENAME_NOREPLACE);
    if (error == 0 && (!now.exists() || look(parent, aside).same_file(now))) {
      if (now.exists()) ::unlinkat(parent, aside.c_str(), 0);
      return std::string();
    }
    if (error == 0) move_name(parent, aside, name, RENAME_EXCHANGE);
    ::unlinkat(parent, aside.c_str(), 0);
    if (error == 0 || error == EEXIST || error == ENOENT) return std::string(meanwhile);
    return failed("rename", path, error);
  }

  // Its names come and go one by one; here only the directory itself does.
  Result<std::string> put_directory(int parent, const Split& at, const Change& change, const State& now) {
    if (now.exists() && ::unlinkat(parent, at.name.c_str(), now.is_directory() ? AT_REMOVEDIR : 0) != 0) {
      if (errno == ENOTEMPTY || errno == EEXIST) return std::string("the host has names in it that stay");
      return failed("unlink", change.path, errno);
    }
    if (change.after.is_directory()) {
      if (::mkdirat(parent, at.name.c_str(), 0700) != 0) return failed("mkdir", change.path, errno);
      const auto made = look(parent, at.name);
      if (!made.is_directory()) return std::string(meanwhile);
      const int error = set_mode(parent, at.name, change.after.mode, made);
      return error == 0 ? Result<std::string>(std::string()) : failed("chmod", change.path, error);
    }
    HARN_TRY(from, open_beneath(places_.upper.get(), at.parent));
    HARN_OK(copy_entry(from.get(), at.name, change.after, parent, at.name));
    return std::string();
  }

  Manifest& manifest_;
  Places places_;
};

}  // namespace

Result<Applied> apply_changes(const Layer& layer, Manifest& manifest, std::vector<Change> changes, const AbsPath& note) {
  HARN_TRY(places, Applier::open(layer, note));
  std::ranges::sort(changes, [](const Change& left, const Change& right) {
    const bool first = left.kind == Kind::deleted;
    if (first != (right.kind == Kind::deleted)) return first;
    return first ? left.path > right.path : left.path < right.path;
  });
  Applier applier(manifest, std::move(places));
  Applied out;
  for (auto& change : changes) {
    if (change.conflict.empty()) {
      HARN_TRY(told, applier.one(change));
      change.conflict = std::move(told);
    }
    if (change.conflict.empty()) ++out.done;
    else out.left.push_back(std::move(change));
  }
  ::unlink(note.text().c_str());
  std::ranges::sort(out.left, {}, &Change::path);
  return out;
}

Status recover(const Layer& layer, const Manifest& manifest, const AbsPath& note) {
  auto text = sys::read_file(note, longest_note);
  if (!text) return text.error().os_error == ENOENT ? Status() : fail(std::move(text).error());
  text->resize(std::min(text->find('\0'), text->size()));
  // A path may hold any byte but NUL; the name aside is ours and the last line.
  const auto end = text->size() < 2 ? std::string::npos : text->rfind('\n', text->size() - 2);
  if (end != std::string::npos) {
    const auto path = text->substr(0, end);
    const auto aside = text->substr(end + 1, text->size() - end - 2);
    const auto at = split_path(path);
    HARN_TRY(lower, open_tree(layer.root));
    const auto parent = open_beneath(lower.get(), at.parent);
    const auto found = parent ? look(parent->get(), aside) : State{};
    const auto then = manifest.at(path);
    if (found.exists() && found.inode == then.inode && !found.same_file(then)) {
      // What somebody changed in the last moment goes back to its place.
      const bool taken = look(parent->get(), at.name).exists();
      move_name(parent->get(), aside, at.name, taken ? RENAME_EXCHANGE : RENAME_NOREPLACE);
    }
    if (found.exists()) ::unlinkat(parent->get(), aside.c_str(), 0);
  }
  ::unlink(note.text().c_str());
  return {};
}

}  // namespace harn::workspace
