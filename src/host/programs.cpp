// SPDX-License-Identifier: Apache-2.0
#include "host/programs.h"

#include <array>
#include <utility>

#include "sys/files.h"

namespace harn::host {
namespace {

constexpr std::array<std::string_view, 3> directories_to_search{"/usr/bin", "/usr/local/bin", "/bin"};

constexpr std::array programs{
    // backend                       file name
    std::pair{std::string_view("bubblewrap"), std::string_view("bwrap")},
    std::pair{std::string_view("firejail"), std::string_view("firejail")},
    std::pair{std::string_view("docker"), std::string_view("docker")},
    std::pair{std::string_view("podman"), std::string_view("podman")},
};

}  // namespace

std::span<const std::string_view> program_directories() { return directories_to_search; }

std::map<std::string, Tool> find_programs(std::span<const std::string_view> directories) {
  std::map<std::string, Tool> found;
  for (const auto& [backend, name] : programs) {
    for (const auto directory : directories) {
      const auto path = AbsPath::of(directory).join(name);
      const bool works = sys::is_executable(path);
      if (!works && sys::target_type_of(path) != sys::FileType::file) continue;
      found[std::string(backend)] = Tool{.path = path, .works = works, .why_not = works ? "" : "it is not executable by this user"};
      break;
    }
  }
  return found;
}

}  // namespace harn::host
