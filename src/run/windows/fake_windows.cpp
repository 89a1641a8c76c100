// SPDX-License-Identifier: Apache-2.0
#include "run/windows/fake_windows.h"

#include <algorithm>

#include <fmt/format.h>

namespace harn::run::windows {
namespace {

constexpr std::string_view journal_place = "C:/Users/me/AppData/Local/harn/journal";

Error os_failure(std::string_view call) {
  return {.code = ErrorCode::os, .stage = Stage::spawn, .os_error = 50, .message = fmt::format("{} failed", call)};
}

}  // namespace

void FakeDisk::add(std::string_view path, std::string_view sddl) {
  auto dacl = parse_dacl(sddl);
  own[AbsPath::of(path)] = dacl ? *dacl : Dacl{};
}

Dacl FakeDisk::effective(const AbsPath& path) const {
  auto out = own.at(path);
  if (out.is_protected || path.is_root()) return out;
  auto above = path.parent();
  while (!own.contains(above) && !above.is_root()) above = above.parent();
  if (!own.contains(above)) return out;
  for (auto entry : effective(above).entries) {
    if (!entry.has_flag("OI") && !entry.has_flag("CI")) continue;
    if (!entry.inherited()) entry.flags += "ID";
    out.entries.push_back(std::move(entry));
  }
  return out;
}

std::string FakeWindows::sid_of(const std::string& name) {
  return fmt::format("S-1-15-2-{}-2-3-4-5-6-7", std::hash<std::string>{}(name) % 1'000'000'007);
}

Status FakeWindows::step(std::string entry) {
  ++counted;
  const bool dead = die_at != 0 && counted >= die_at;
  if (!dead) log.push_back(entry);
  if (dead || counted == fail_at) return fail(os_failure(entry));
  return {};
}

Handle FakeWindows::make_handle() {
  open.insert(++next_);
  return next_;
}

bool FakeWindows::any_ran() const {
  return std::ranges::any_of(processes, [](const auto& entry) { return entry.second.resumed; });
}

bool FakeWindows::any_alive() const {
  return std::ranges::any_of(processes, [](const auto& entry) { return !entry.second.ended; });
}

std::size_t FakeWindows::position(std::string_view entry) const {
  return static_cast<std::size_t>(std::ranges::find(log, entry) - log.begin());
}

void FakeWindows::fill_containers(Calls& calls) {
  calls.derive_sid = [this](const std::string& name) -> Result<std::string> {
    HARN_OK(step("derive_sid"));
    return sid_of(name);
  };
  calls.create_container = [this](const std::string& name) -> Result<std::string> {
    HARN_OK(step("create_container"));
    if (!disk_.containers.insert(name).second) return fail(os_failure("create_container: it exists"));
    return sid_of(name);
  };
  calls.container_folder = [this](const std::string&) -> Result<std::string> {
    HARN_OK(step("container_folder"));
    return "C:\\Users\\me\\AppData\\Local\\Packages\\it\\AC";
  };
  calls.delete_container = [this](const std::string& name) -> Status {
    HARN_OK(step("delete_container"));
    disk_.containers.erase(name);
    return {};
  };
}

void FakeWindows::fill_lists(Calls& calls) {
  calls.pin = [this](const AbsPath& path) -> Result<Pinned> {
    HARN_OK(step("pin " + path.text()));
    const auto really = leads(path);
    const bool there = disk_.own.contains(really) || path == AbsPath::of(journal_place);
    if (!there) return fail(Error{.code = ErrorCode::io, .message = "it is gone"});
    const auto other = replaced.find(really);
    return Pinned{.held = std::make_shared<int>(0), .really = really, .identity = other == replaced.end() ? really.text() : other->second};
  };
  calls.read_dacl = [this](const AbsPath& path) -> Result<std::string> {
    HARN_OK(step("read_dacl " + path.text()));
    if (!disk_.own.contains(leads(path))) return fail(Error{.code = ErrorCode::io, .message = "it is gone"});
    return disk_.effective(leads(path)).text();
  };
  calls.write_dacl = [this](const AbsPath& path, const std::string& sddl) -> Status {
    HARN_OK(step("write_dacl " + path.text()));
    HARN_TRY(dacl, parse_dacl(sddl));
    std::erase_if(dacl.entries, [](const Ace& entry) { return entry.inherited(); });
    disk_.own[leads(path)] = std::move(dacl);
    if (after_write) after_write();
    return {};
  };
}

void FakeWindows::fill_journals(Calls& calls) {
  calls.journal_directory = AbsPath::of(journal_place);
  calls.self = {4711, 1000};
  calls.lock_journals = [this]() -> Result<Held> {
    HARN_OK(step("lock_journals"));
    return std::make_shared<int>(0);
  };
  calls.save_journal = [this](const std::string& name, const std::string& text) -> Status {
    HARN_OK(step("save_journal"));
    disk_.journals[name] = text;
    return {};
  };
  calls.remove_journal = [this](const std::string& name) -> Status {
    HARN_OK(step("remove_journal"));
    disk_.journals.erase(name);
    return {};
  };
  calls.list_journals = [this]() -> Result<std::vector<std::pair<std::string, std::string>>> {
    HARN_OK(step("list_journals"));
    return std::vector<std::pair<std::string, std::string>>(disk_.journals.begin(), disk_.journals.end());
  };
  calls.is_running = [this](std::uint64_t owner, std::uint64_t) { return running.contains(owner); };
}

void FakeWindows::fill_jobs(Calls& calls) {
  calls.create_job = [this]() -> Result<Handle> {
    HARN_OK(step("create_job"));
    const auto job = make_handle();
    jobs[job] = {};
    return job;
  };
  calls.limit_job = [this](Handle job, const JobLimits& limits) -> Status {
    HARN_OK(step("limit_job"));
    jobs.at(job).limits = limits;
    return {};
  };
  calls.limit_job_ui = [this](Handle job, std::uint32_t limits) -> Status {
    HARN_OK(step("limit_job_ui"));
    jobs.at(job).ui = limits;
    return {};
  };
  calls.limit_job_cpu = [this](Handle job, std::uint32_t rate) -> Status {
    HARN_OK(step("limit_job_cpu"));
    jobs.at(job).cpu_rate = rate;
    return {};
  };
  calls.read_job = [this](Handle job) -> Result<JobLimits> {
    HARN_OK(step("read_job"));
    return jobs.at(job).limits;
  };
  calls.read_job_ui = [this](Handle job) -> Result<std::uint32_t> {
    HARN_OK(step("read_job_ui"));
    return jobs.at(job).ui;
  };
  calls.read_job_cpu = [this](Handle job) -> Result<std::uint32_t> {
    HARN_OK(step("read_job_cpu"));
    return jobs.at(job).cpu_rate.value_or(0);
  };
}

void FakeWindows::fill_processes(Calls& calls) {
  calls.spawn_suspended = [this](const SpawnRequest& request) -> Result<Child> {
    HARN_OK(step("spawn_suspended"));
    const Child child{.process = make_handle(), .thread = make_handle(), .id = 7};
    processes[child.process] = {.request = request};
    return child;
  };
  calls.token_of = [this](Handle process) -> Result<TokenFacts> {
    HARN_OK(step("token_of"));
    const auto& request = processes.at(process).request;
    return TokenFacts{
        .is_container = request.container.has_value(), .sid = request.container.value_or(""), .capabilities = request.capabilities};
  };
  calls.is_in_job = [this](Handle process, Handle job) -> Result<bool> {
    HARN_OK(step("is_in_job"));
    return processes.at(process).request.job == job;
  };
  calls.resume = [this](Handle thread) -> Status {
    HARN_OK(step("resume"));
    processes.at(thread - 1).resumed = true;
    return {};
  };
  calls.end_process = [this](Handle process) {
    log.emplace_back("end_process");
    processes.at(process).ended = true;
  };
  calls.end_job = [this](Handle job) {
    log.emplace_back("end_job");
    for (auto& [handle, process] : processes)
      if (process.request.job == job) process.ended = true;
  };
  calls.close = [this](Handle handle) { open.erase(handle); };
}

Calls FakeWindows::calls() {
  Calls out;
  fill_containers(out);
  fill_lists(out);
  fill_journals(out);
  fill_jobs(out);
  fill_processes(out);
  out.processors = 4;
  return out;
}

}  // namespace harn::run::windows
