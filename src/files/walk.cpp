// SPDX-License-Identifier: Apache-2.0
#include "files/walk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>

#include "base/text.h"

namespace harn::files {
namespace {

constexpr int max_links = 40;           // as the kernel
constexpr std::size_t max_names = 256;  // deeper than any project, and a bound for descriptors held
constexpr int look = O_PATH | O_NOFOLLOW | O_CLOEXEC;

class Walker {
 public:
  Walker(const AbsPath& start, std::string_view path, LastLink last) : last_(last) {
    queue(path, names_.end());
    if (!path.starts_with('/')) queue(start.text(), names_.begin());
  }

  Result<Place> run() && {
    HARN_OK(back_to_root());
    while (!names_.empty() && error_ == 0) {
      auto name = std::move(names_.front());
      names_.pop_front();
      HARN_TRY(went_on, take(std::move(name)));
      if (!went_on) break;
    }
    return finish();
  }

 private:
  struct Held {
    sys::UniqueFd fd = {};
    std::string name = {};
  };

  void queue(std::string_view text, std::deque<std::string>::iterator where) {
    std::vector<std::string> names;
    for (const auto& part : base::split(text, '/'))
      if (!part.empty() && part != ".") names.emplace_back(part);
    names_.insert(where, std::make_move_iterator(names.begin()), std::make_move_iterator(names.end()));
  }

  Status back_to_root() {
    held_.clear();
    sys::UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root) return fail(sys::os_failure("open", "/", errno));
    held_.push_back({.fd = std::move(root)});
    return {};
  }

  // False when the walk is over.
  Result<bool> take(std::string name) {
    if (name == "..") {
      if (held_.size() > 1) held_.pop_back();
      return true;
    }
    if (held_.size() > max_names) return stop(ENAMETOOLONG, std::move(name));
    sys::UniqueFd fd(::openat(held_.back().fd.get(), name.c_str(), look));
    if (!fd && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) return fail(sys::os_failure("open", name, errno));
    if (!fd) return stop(errno == ENOENT ? 0 : errno, std::move(name));
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0) return fail(sys::os_failure("fstat", name, errno));
    const auto type = sys::type_from(status.st_mode);
    const bool last = names_.empty();
    if (type == sys::FileType::link && !(last && last_ == LastLink::keep)) return follow(fd.get(), std::move(name));
    if (type == sys::FileType::directory) {
      held_.push_back({.fd = std::move(fd), .name = std::move(name)});
      return true;
    }
    if (!last) return stop(ENOTDIR, std::move(name));
    end_ = std::move(name);
    type_ = type;
    return false;
  }

  Result<bool> follow(int link, std::string name) {
    if (++links_ > max_links) return stop(ELOOP, std::move(name));
    std::array<char, PATH_MAX> text = {};
    const auto size = ::readlinkat(link, "", text.data(), text.size());
    if (size <= 0 || static_cast<std::size_t>(size) == text.size()) return stop(size < 0 ? errno : ELOOP, std::move(name));
    const std::string_view target(text.data(), static_cast<std::size_t>(size));
    if (target.starts_with('/')) HARN_OK(back_to_root());
    queue(target, names_.begin());
    return true;
  }

  // What follows a name that is not there, or cannot be looked at, keeps its spelling.
  Result<bool> stop(int error, std::string name) {
    error_ = error;
    missing_.push_back(std::move(name));
    for (auto& rest : names_) {
      if (rest != "..") {
        missing_.push_back(std::move(rest));
        continue;
      }
      // The kernel does not climb out of what is not there; only the decision needs a path.
      if (error_ == 0) error_ = ENOENT;
      if (!missing_.empty()) missing_.pop_back();
      else if (held_.size() > 1) held_.pop_back();
    }
    names_.clear();
    return false;
  }

  Place finish() {
    std::string text;
    Place place;
    if (!end_.empty()) missing_ = {std::move(end_)};
    else if (missing_.empty()) place.type = sys::FileType::directory;
    const bool on_directory = missing_.empty() && held_.size() > 1;
    for (std::size_t i = 1; i < held_.size(); ++i) text += "/" + held_[i].name;
    for (const auto& name : missing_) text += "/" + name;
    place.real = AbsPath::of(text.empty() ? "/" : text);
    if (type_ != sys::FileType::missing) place.type = type_;
    place.error = error_;
    if (on_directory) {
      place.names = {std::move(held_.back().name)};
      held_.pop_back();
    } else {
      place.names = std::move(missing_);
    }
    place.directory = std::move(held_.back().fd);
    return place;
  }

  LastLink last_;
  std::deque<std::string> names_ = {};     // still to go
  std::vector<Held> held_ = {};            // the way so far; ".." goes back on it, whatever was renamed meanwhile
  std::vector<std::string> missing_ = {};  // after the walk: what was not there
  std::string end_ = {};                   // after the walk: the last name, where it is no directory
  sys::FileType type_ = sys::FileType::missing;
  int links_ = 0;
  int error_ = 0;
};

}  // namespace

Result<Place> walk(const AbsPath& start, std::string_view path, LastLink last) { return Walker(start, path, last).run(); }

}  // namespace harn::files
