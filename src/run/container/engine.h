// SPDX-License-Identifier: Apache-2.0
// Asking a container engine through its command-line client: one question, one answer, bounded in time.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "harn/result.h"

namespace harn::run {

struct EngineClient {
  std::string name = {};                                // "docker" "podman"
  std::vector<std::string> words = {};                  // the program and what stands before every verb
  std::map<std::string, std::string> environment = {};  // all it gets
  bool dies_with_thread = false;

  std::vector<std::string> with(std::vector<std::string> more) const;
};

struct Answer {
  int exit_code = 0;
  bool timed_out = false;
  std::string out = {};
  std::string err = {};

  bool ok() const { return exit_code == 0 && !timed_out; }
};

inline constexpr std::chrono::seconds engine_patience{60};

// `more` are variables for this question alone.
Result<Answer> ask(const EngineClient& client, std::vector<std::string> words, const std::map<std::string, std::string>& more = {});

// For what is done in any case and checked by nobody: ending and removing once more.
void order(const EngineClient& client, std::vector<std::string> words);

// What the client said went wrong, without its decoration.
std::string complaint(const Answer& answer);

// Why a question about a container of `image` failed: the engine does not answer, the image is not
// there, or what it said. Asks the engine again.
Error explain(const EngineClient& client, const std::string& image, std::string_view what, const Answer& answer);

}  // namespace harn::run
