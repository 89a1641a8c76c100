// SPDX-License-Identifier: Apache-2.0
// The list of processes where the appliers of other systems run on Linux.
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "run/unix/processes.h"

namespace harn::run {

std::vector<ProcessEntry> list_processes() {
  std::vector<ProcessEntry> out;
  std::error_code ignored;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto name = entry.path().filename().string();
    ProcessEntry process;
    if (std::from_chars(name.data(), name.data() + name.size(), process.pid).ec != std::errc()) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text, '\0');    // an error, when it ends meanwhile, is no exception here
    const auto end = text.rfind(')');  // the name before it may hold anything
    if (end == std::string::npos) continue;
    std::istringstream words(text.substr(end + 1));
    const std::vector<std::string> fields(std::istream_iterator<std::string>(words), {});
    if (fields.size() < 22) continue;
    process.ended = fields[0] == "Z" || fields[0] == "X";
    process.parent = std::stoi(fields[1]);
    process.group = std::stoi(fields[2]);
    process.cpu_ms = (std::stoull(fields[11]) + std::stoull(fields[12])) * 1000 / ticks;
    process.started = std::stoull(fields[19]);
    process.resident_bytes = std::stoull(fields[21]) * page;
    out.push_back(process);
  }
  return out;
}

}  // namespace harn::run
