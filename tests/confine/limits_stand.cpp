// SPDX-License-Identifier: Apache-2.0
#include "confine/limits_stand.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "sys/cgroup_places.h"
#include "sys/landlock.h"

namespace harn::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* nobody = "65534";

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::getline(in, text, '\0');  // the process may end while it is read, which an iterator takes badly
  return text;
}

}  // namespace

std::vector<Stand> stands() {
  return {{"root", true, true}, {"root_without_view", true, false}, {"user", false, true}, {"user_without_view", false, false}};
}

std::string why_not(const Stand& stand) {
  if (stand.root && ::geteuid() != 0) return "only root can run as root";
  if (!stand.root && ::geteuid() == 0 && ::access("/usr/bin/setpriv", X_OK) != 0) return "setpriv is missing";
  if (!stand.view && ::access("/usr/bin/unshare", X_OK) != 0) return "unshare is missing";
  if (!stand.view && sys::landlock_abi() == 0) return "landlock: without it and without a view nothing confines";
  return {};
}

bool LimitRun::flag(std::string_view name) const {
  const auto* value = outcome.find(name);
  return value != nullptr && value->is(base::ValueKind::boolean) && value->boolean();
}

std::int64_t LimitRun::number(std::string_view name) const {
  const auto* value = outcome.find(name);
  return value != nullptr && value->is(base::ValueKind::integer) ? value->integer() : -1000;
}

std::int64_t LimitRun::usage(std::string_view name) const {
  const auto* usage = outcome.find("usage");
  const auto* value = usage == nullptr ? nullptr : usage->find(name);
  return value != nullptr && value->is(base::ValueKind::integer) ? value->integer() : -1000;
}

std::string LimitRun::output() const {
  const auto* value = outcome.find("stdout");
  return value != nullptr && value->is(base::ValueKind::string) ? value->string() : "";
}

LimitScene::LimitScene(Stand stand) : stand_(std::move(stand)) {
  temp_.directory("work");
  temp_.directory("home");
  temp_.directory("bin");
  fs::copy_file(HARN_BINARY, temp_.path("bin/harn").text());
  fs::copy_file(HARN_HOG, temp_.path("bin/hog").text());
  fs::permissions(temp_.root(), fs::perms(0755));
  if (stand_.root || ::geteuid() != 0) return;
  for (const auto* name : {"work", "home"}) EXPECT_EQ(::chown(temp_.path(name).text().c_str(), 65534, 65534), 0);
}

LimitScene::~LimitScene() { end_survivors(); }

std::vector<std::string> LimitScene::as_caller(std::vector<std::string> argv) const {
  const auto before = [&](std::initializer_list<std::string> words) { argv.insert(argv.begin(), words); };
  // The number of user namespaces is a setting of each namespace, so only this one is without.
  if (!stand_.view)
    before({"/usr/bin/unshare", "--user", "--map-root-user", "/bin/sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"",
            "sh"});
  if (!stand_.root && ::geteuid() == 0) before({"/usr/bin/setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups"});
  if (!outer_group_.empty()) before({"/bin/sh", "-c", "echo 0 > " + outer_group_ + " && exec \"$@\"", "sh"});
  return argv;
}

ProgramRun LimitScene::call(std::vector<std::string> argv) const {
  return run_program({.argv = as_caller(std::move(argv)),
                      .environment = {{"HOME", temp_.path("home").text()}, {"PATH", "/usr/bin:/bin"}},
                      .cwd = work(),
                      .scratch = temp_.path()});
}

ProgramRun LimitScene::bare(const std::vector<std::string>& words) const {
  std::vector<std::string> argv{temp_.path("bin/hog").text()};
  argv.insert(argv.end(), words.begin(), words.end());
  return call(std::move(argv));
}

LimitRun LimitScene::run(const std::vector<std::string>& flags, const std::vector<std::string>& words) const {
  std::vector<std::string> argv{temp_.path("bin/harn").text(), "run", "--json", "--read", temp_.path("bin").text()};
  // Without namespaces another backend would be found, which is not the subject here.
  if (!stand_.view) argv.insert(argv.end(), {"--backend", "linux"});
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {"--", temp_.path("bin/hog").text()});
  argv.insert(argv.end(), words.begin(), words.end());
  const auto ran = call(std::move(argv));
  LimitRun run{.exit_code = ran.exit_code, .text = ran.out.substr(0, 600) + ran.err};
  auto outcome = base::parse_json(ran.out);
  EXPECT_TRUE(outcome) << run.text;
  if (!outcome) return run;
  run.outcome = std::move(*outcome);
  const auto* receipt = run.outcome.find("receipt");
  const auto* id = receipt == nullptr ? nullptr : receipt->find("run_id");
  EXPECT_NE(id, nullptr) << run.text;
  if (id != nullptr) expect_nothing_left(id->string());
  return run;
}

std::vector<int> LimitScene::survivors() const {
  std::vector<int> out;
  const auto hog = temp_.path("bin/hog").text();
  for (const auto& entry : fs::directory_iterator("/proc", fs::directory_options::skip_permission_denied)) {
    const auto name = entry.path().filename().string();
    int pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) continue;
    if (text_of(entry.path() / "cmdline").starts_with(hog)) out.push_back(pid);
  }
  return out;
}

void LimitScene::end_survivors() const {
  for (const int pid : survivors()) ::kill(pid, SIGKILL);
}

void LimitScene::expect_nothing_left(const std::string& run_id) const {
  EXPECT_EQ(survivors(), std::vector<int>{});
  for (const auto& [controller, directory] : sys::find_cgroup_places().directories)
    EXPECT_FALSE(fs::exists(directory.join("harn-" + run_id).text())) << controller;
}

}  // namespace harn::test
