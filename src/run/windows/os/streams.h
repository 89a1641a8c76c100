// SPDX-License-Identifier: Apache-2.0
// The three pipes of a command, and the threads that serve them. The command never holds a handle of the caller's.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harn/outcome.h"
#include "harn/sandbox.h"
#include "run/windows/os/native.h"

namespace harn::run::windows {

struct StreamRules {
  std::array<Stream, 3> streams = {Stream::inherit, Stream::inherit, Stream::inherit};
  std::string input = {};
  std::optional<std::uint64_t> limit = {};  // of both outputs together
  std::uint64_t captured_bytes = default_captured_bytes;
  OutputSink on_output = {};  // called by the threads, one at a time
};

class Streams {
 public:
  static Result<Streams> open(StreamRules rules);
  Streams(Streams&&) noexcept = default;
  ~Streams();

  std::array<Handle, 3> child_ends() const;  // inheritable; borrowed
  void serve();                              // once the child has its ends
  // The command is gone, so its ends are too; somebody else who holds one does not hold us up for longer than `most`.
  void finish(std::chrono::milliseconds most, Outcome& outcome);

 private:
  struct Shared;
  Streams() = default;

  std::array<UniqueHandle, 3> child_ = {};
  std::shared_ptr<Shared> shared_ = {};  // the threads may outlive this object
};

}  // namespace harn::run::windows
