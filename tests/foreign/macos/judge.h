// SPDX-License-Identifier: Apache-2.0
// A system call of Linux in the words of a Seatbelt profile: which operations it is, on which path or address.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "plan/macos/sbpl_profile.h"

namespace harn::standin {

struct Asked {
  pid_t pid = 0;  // a thread of the command
  int call = 0;
  std::array<std::uint64_t, 6> arguments = {};
};

class Judge {
 public:
  static std::optional<Judge> make(const std::string& profile, std::string& problem);

  // 0 = it may go on. EPERM where the profile refuses, as on macOS.
  int error_for(const Asked& asked) const;

 private:
  explicit Judge(plan::SbplProfile profile) : profile_(std::move(profile)) {}
  int file_error(const Asked& asked) const;
  int socket_error(const Asked& asked, std::string operation) const;
  bool allows(const std::string& operation, const std::string& path) const { return profile_.allows(operation, path); }

  plan::SbplProfile profile_;
};

}  // namespace harn::standin
