// SPDX-License-Identifier: Apache-2.0
// See docker_seccomp.h.
#include "support/docker_seccomp.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

namespace harn::test {
namespace {

bool holds(const ProfileArgument& test, const std::array<std::uint64_t, 6>& arguments) {
  const std::uint64_t argument = arguments.at(test.index);
  if (test.op == "SCMP_CMP_EQ") return argument == test.value;
  if (test.op == "SCMP_CMP_MASKED_EQ") return (argument & test.value) == test.value_two;
  throw std::runtime_error("unknown comparison " + test.op);
}

bool matches(const ProfileEntry& entry, std::string_view name, const std::array<std::uint64_t, 6>& arguments) {
  return std::ranges::find(entry.names, name) != entry.names.end() &&
         std::ranges::all_of(entry.arguments, [&](const ProfileArgument& test) { return holds(test, arguments); });
}

std::string outcome(const std::string& action, int error) { return action == "SCMP_ACT_ALLOW" ? "allow" : std::to_string(error); }

scmp_arg_cmp comparison(const ProfileArgument& argument) {
  const bool masked = argument.op == "SCMP_CMP_MASKED_EQ";
  return {argument.index, masked ? SCMP_CMP_MASKED_EQ : SCMP_CMP_EQ, argument.value, argument.value_two};
}

void must(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + " failed: " + std::to_string(result));
}

void add_entry(scmp_filter_ctx context, const ProfileEntry& entry) {
  const std::uint32_t action = entry.action == "SCMP_ACT_ALLOW" ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(static_cast<std::uint32_t>(entry.error));
  std::vector<scmp_arg_cmp> tests;
  for (const ProfileArgument& argument : entry.arguments) tests.push_back(comparison(argument));
  for (const std::string& name : entry.names) {
    const int number = seccomp_syscall_resolve_name(name.c_str());  // native; libseccomp translates
    if (number == __NR_SCMP_ERROR) continue;
    must(seccomp_rule_add_exact_array(context, action, number, static_cast<unsigned>(tests.size()), tests.data()), "rule");
  }
}

plan::BpfProgram exported(scmp_filter_ctx context) {
  const int file = memfd_create("filter", MFD_CLOEXEC);
  must(file, "memfd_create");
  must(seccomp_export_bpf(context, file), "export");
  const off_t size = lseek(file, 0, SEEK_CUR);
  plan::BpfProgram program(static_cast<std::size_t>(size) / sizeof(plan::BpfInstruction));
  must(pread(file, program.data(), static_cast<std::size_t>(size), 0) == size ? 0 : -1, "pread");
  close(file);
  return program;
}

}  // namespace

std::string DockerProfile::verdict(std::string_view name, const std::array<std::uint64_t, 6>& arguments) const {
  std::set<std::string> found;
  for (const ProfileEntry& entry : entries)
    if (matches(entry, name, arguments)) found.insert(outcome(entry.action, entry.error));
  if (found.size() > 1) return "ambiguous";
  return found.empty() ? outcome(default_action, default_error) : *found.begin();
}

bool DockerProfile::looks_twice() const {
  return std::ranges::any_of(entries, [](const ProfileEntry& entry) {
    std::set<unsigned> seen;
    for (const ProfileArgument& argument : entry.arguments) seen.insert(argument.index);
    return seen.size() != entry.arguments.size();
  });
}

DockerProfile read_profile(const std::string& json) {
  const auto root = nlohmann::json::parse(json);
  DockerProfile profile{.default_action = root.at("defaultAction"),
                        .default_error = root.at("defaultErrnoRet"),
                        .architecture = root.at("archMap").at(0).at("architecture")};
  for (const auto& item : root.at("syscalls")) {
    ProfileEntry entry{.names = item.at("names"), .action = item.at("action"), .error = item.value("errnoRet", 0)};
    for (const auto& argument : item.value("args", nlohmann::json::array()))
      entry.arguments.push_back({.index = argument.at("index"),
                                 .value = argument.at("value"),
                                 .value_two = argument.value("valueTwo", std::uint64_t{0}),
                                 .op = argument.at("op")});
    profile.entries.push_back(std::move(entry));
  }
  return profile;
}

plan::BpfProgram compile_with_libseccomp(const DockerProfile& profile) {
  const std::uint32_t arch = profile.architecture == "SCMP_ARCH_X86_64" ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64;
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(static_cast<std::uint32_t>(profile.default_error)));
  if (arch != seccomp_arch_native()) {
    must(seccomp_arch_add(context, arch), "adding the architecture");
    must(seccomp_arch_remove(context, SCMP_ARCH_NATIVE), "removing the native architecture");
  }
  for (const ProfileEntry& entry : profile.entries) add_entry(context, entry);
  plan::BpfProgram program = exported(context);
  seccomp_release(context);
  return program;
}

}  // namespace harn::test
