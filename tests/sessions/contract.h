// SPDX-License-Identifier: Apache-2.0
// The ground on which the contract of SandboxBackend is tried, one for each backend.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "harn/session.h"

namespace harn::test {

namespace fs = std::filesystem;

// One backend, and what is true of it.
struct Ground {
  std::string name = {};
  std::string backend = "local";
  std::map<std::string, std::string> environment = {};
  std::function<SandboxResult<std::unique_ptr<SandboxBackend>>(Context context)> open = {};
  std::function<std::string()> missing = {};  // why it cannot be tried here; empty where it can
  bool guest_paths = true;                    // what is mounted stands at its target inside
  bool sleeps_when_idle = true;
  bool changes_alive = true;  // mounts and networks come and go while it runs
  bool names_hosts = true;    // single hosts can be named
  std::string network_trial = {};
};

class Contract : public testing::TestWithParam<Ground> {
 protected:
  void SetUp() override {
    if (const auto why = GetParam().missing ? GetParam().missing() : std::string(); !why.empty()) GTEST_SKIP() << why;
    char name[] = "/var/tmp/harn-contract-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    ground_ = name;
    for (const auto* part : {"home", "data", "run"}) fs::create_directory(ground_ / part);
    ::chmod((ground_ / "run").c_str(), 0700);
    open();
  }
  void TearDown() override {
    if (backend_ == nullptr) return;
    if (auto all = backend_->list()) {
      for (const auto& session : *all) EXPECT_TRUE(backend_->terminate(session.id)) << session.id.value;
    }
    fs::remove_all(ground_);
  }

  void open() {
    Context context{.environment = {{"HOME", (ground_ / "home").string()},
                                    {"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                    {"XDG_RUNTIME_DIR", (ground_ / "run").string()},
                                    {"OPENAI_API_KEY", "secret-1"},
                                    {"HOST_ONLY", "seen"}},
                    .cwd = AbsPath::of(ground_.string())};
    for (const auto& [name, value] : GetParam().environment) context.environment.insert_or_assign(name, value);
    auto opened = GetParam().open(std::move(context));
    ASSERT_TRUE(opened) << describe(opened.error());
    backend_ = std::move(*opened);
  }

  SandboxSession make(SandboxSpec spec = {}) {
    auto made = backend_->provision(spec);
    EXPECT_TRUE(made) << describe(made.error());
    return made.value_or(SandboxSession{});
  }
  SandboxResult<ExecResult> sh(const SandboxSession& session, const std::string& script) {
    return backend_->exec(session.id, {.command = "/bin/sh", .args = {"-c", script}});
  }
  std::string out(const SandboxSession& session, const std::string& script) {
    const auto result = sh(session, script);
    EXPECT_TRUE(result) << describe(result.error());
    return result ? result->out + result->err : std::string();
  }
  std::string data() const { return (ground_ / "data").string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(ground_ / name) << text; }
  // Where a mount is found inside.
  std::string inside(const SandboxSession& session, std::string_view target) const {
    const auto found = std::ranges::find(session.mounts, target, &ResolvedMount::target);
    return GetParam().guest_paths ? std::string(target) : found->host_path.value_or("");
  }

  fs::path ground_ = {};
  std::unique_ptr<SandboxBackend> backend_ = {};
};

}  // namespace harn::test
