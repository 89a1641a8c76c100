// SPDX-License-Identifier: Apache-2.0
#include "sys/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

#include "sys/unique_fd.h"

namespace harn::sys {
namespace {

constexpr int deepest = 64;  // descriptors held at one time; what lies deeper is moved up first

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

class Remover {
 public:
  explicit Remover(int top) : top_(top) {}

  bool run() {
    bool progress = true;
    bool clean = false;
    while (progress && !clean) {
      moved_ = 0;
      clean = empty_out(top_, 0);
      progress = moved_ > 0;
    }
    return clean;
  }

 private:
  bool empty_out(int directory, int depth) {
    const std::unique_ptr<DIR, DirectoryCloser> entries(::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 3)));
    if (!entries) return false;
    ::rewinddir(entries.get());
    bool clean = true;
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") clean = remove(directory, entry->d_name, depth) && clean;
    }
    return clean;
  }

  bool remove(int directory, const char* name, int depth) {
    if (::unlinkat(directory, name, 0) == 0) return true;
    if (depth >= deepest) {
      const auto free_name = "harn-deep-" + std::to_string(++names_);
      if (::renameat(directory, name, top_, free_name.c_str()) == 0) ++moved_;
      return false;
    }
    const auto open = [&] { return UniqueFd(::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)); };
    auto below = open();
    // A directory its owner closed to itself, or to writing.
    if (!below && ::fchmodat(directory, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0) below = open();
    if (!below || ::fchmod(below.get(), S_IRWXU) != 0) return false;
    empty_out(below.get(), depth + 1);
    return ::unlinkat(directory, name, AT_REMOVEDIR) == 0;
  }

  int top_;
  unsigned long names_ = 0;
  unsigned long moved_ = 0;
};

}  // namespace

bool empty_directory(int directory) { return Remover(directory).run(); }

}  // namespace harn::sys
