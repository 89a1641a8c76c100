// SPDX-License-Identifier: Apache-2.0
// A private engine for the tests: its own storage, its own socket, an image made offline from busybox and
// the programs of the tests. Stopped and removed at the end.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run_program.h"
#include "support/temp_dir.h"

namespace harn::test {

class EngineGround {
 public:
  // "docker", "podman", or "rootless": podman as an ordinary user.
  explicit EngineGround(const std::string& which);
  EngineGround(const EngineGround&) = delete;
  EngineGround& operator=(const EngineGround&) = delete;
  ~EngineGround();

  // Why there is no engine to test with here; empty when there is one.
  const std::string& missing() const { return missing_; }
  const std::string& engine() const { return engine_; }
  uid_t uid() const { return uid_; }  // whose commands run
  static uid_t uid_for(std::string_view which);
  const std::map<std::string, std::string>& environment() const { return environment_; }
  const std::string& root() const { return root_; }
  AbsPath work() const { return AbsPath::of(root_ + "/work"); }

  // In the workspace.
  ProgramRun shell(const std::string& script) const;
  // The engine's own client.
  ProgramRun client(const std::string& words) const;
  // harn run with the engine and the image, then these words, as a shell reads them.
  ProgramRun harn(const std::string& words) const;
  std::string harn_words(const std::string& words) const;

  // For docker: the daemon is killed, as by a crash, and started again.
  void kill_daemon();
  void start_daemon();

  // Containers of any state, one name per line.
  std::string containers() const { return client("ps --all --format '{{.Names}}'").out; }

 private:
  void settle_podman();
  void settle_user();
  void make_image();
  ProgramRun root_shell(const std::string& script) const;

  std::string engine_ = {};
  uid_t uid_ = 0;
  std::string harn_ = HARN_BINARY;
  std::string root_ = {};
  std::string missing_ = {};
  std::map<std::string, std::string> environment_ = {};
  pid_t daemon_ = -1;
};

// HARN_TEST_ENGINE.
std::string_view asked_engine();

// The one of this program; started when it is first asked for.
EngineGround& ground();

// Why there is none; required ones must be there.
std::string missing_engine();

// Commands in containers of it. Nothing may be left after each.
class Containers : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  static ProgramRun harn(const std::string& words) { return ground().harn(words); }
};

}  // namespace harn::test
