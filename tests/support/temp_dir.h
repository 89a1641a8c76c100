// SPDX-License-Identifier: Apache-2.0
// A directory of its own for one test, gone when the test ends.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "harn/path.h"

namespace harn::test {

class TempDir {
 public:
  TempDir() {
    std::string pattern = std::filesystem::temp_directory_path() / "harn-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    root_ = std::filesystem::canonical(pattern);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  const std::string& root() const { return root_; }
  AbsPath path(std::string_view relative = {}) const { return AbsPath::of(root_ + "/" + std::string(relative)); }

  AbsPath directory(std::string_view relative) const {
    std::filesystem::create_directories(path(relative).text());
    return path(relative);
  }
  AbsPath file(std::string_view relative, std::string_view text = {}) const {
    const auto at = path(relative);
    std::filesystem::create_directories(at.parent().text());
    std::ofstream(at.text(), std::ios::binary) << text;
    return at;
  }
  AbsPath link(std::string_view relative, std::string_view target) const {
    const auto at = path(relative);
    std::filesystem::create_directories(at.parent().text());
    std::filesystem::create_symlink(target, at.text());
    return at;
  }

 private:
  std::string root_;
};

}  // namespace harn::test
