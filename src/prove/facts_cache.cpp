// SPDX-License-Identifier: Apache-2.0
#include "prove/facts_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "harn/plan.h"
#include "harn/prove.h"
#include "sys/files.h"
#include "sys/unique_fd.h"

namespace harn::prove {
namespace {

constexpr off_t longest_facts = 32768;
constexpr std::size_t most_files = 256;  // of one boot: every place in the cgroup tree is a key of its own
constexpr std::size_t boot_digits = 8;
constexpr mode_t others = S_IRWXG | S_IRWXO;
constexpr mode_t others_write = S_IWGRP | S_IWOTH;

AbsPath place(const AbsPath& directory) { return directory.join("facts"); }

std::string boot_prefix(const FactsKey& key) { return key.boot.substr(0, boot_digits) + "-"; }

bool ours(int fd, mode_t kind, mode_t forbidden) {
  struct stat status = {};
  return ::fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == kind && status.st_uid == ::geteuid() &&
         (status.st_mode & forbidden) == 0;
}

std::optional<std::string> read_ours(const AbsPath& file) {
  const sys::UniqueFd directory(::open(file.parent().text().c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory || !ours(directory.get(), S_IFDIR, others_write)) return std::nullopt;
  const sys::UniqueFd fd(::openat(directory.get(), std::string(file.name()).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd || !ours(fd.get(), S_IFREG, others)) return std::nullopt;
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0 || status.st_size <= 0 || status.st_size > longest_facts) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  if (::read(fd.get(), text.data(), text.size()) != status.st_size) return std::nullopt;
  return text;
}

void forget_others(const AbsPath& directory, std::string_view prefix) {
  const auto names = sys::list_directory(directory, 16 * most_files);
  if (!names) return;
  const bool crowded = names->size() > most_files;
  for (const auto& name : *names)
    if (crowded || !name.starts_with(prefix)) ::unlink(directory.join(name).text().c_str());
}

}  // namespace

AbsPath facts_file(const AbsPath& directory, const FactsKey& key) {
  // Only a name: what the file says about its key decides.
  return place(directory).join(fmt::format("{}{:016x}", boot_prefix(key), std::hash<std::string>()(key.whole)));
}

std::optional<HostFacts> load_facts(const AbsPath& directory, const FactsKey& key) {
  const auto text = read_ours(facts_file(directory, key));
  const auto head = key.whole + "\n";
  if (!text || !text->starts_with(head)) return std::nullopt;
  auto facts = facts_from_json(std::string_view(*text).substr(head.size()));
  if (!facts) return std::nullopt;
  return std::move(*facts);
}

void keep_facts(const AbsPath& directory, const FactsKey& key, const HostFacts& facts) {
  const HostFacts kept{.linux = facts.linux, .tools = facts.tools};
  forget_others(place(directory), boot_prefix(key));
  const auto status = sys::replace_file(facts_file(directory, key), key.whole + "\n" + facts_to_json(kept, -1));
  static_cast<void>(status);
}

}  // namespace harn::prove

namespace harn {

AbsPath facts_directory(const std::optional<AbsPath>& runtime, const AbsPath& state) {
  if (!runtime) return state;
  const sys::UniqueFd directory(::open(runtime->text().c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return directory && prove::ours(directory.get(), S_IFDIR, prove::others_write) ? runtime->join("harn") : state;
}

}  // namespace harn
