// SPDX-License-Identifier: Apache-2.0
#include "plan/macos/seatbelt_base.h"

#include <algorithm>

#include "plan/linux/network_reach.h"

namespace harn::plan {
namespace {

// TIOCSTI, which types into the terminal. By number: the sandbox compiler of macOS 13 and 14 knows
// neither the symbol nor hexadecimal.
constexpr std::string_view type_into_terminal = "2147578994";

// Rules and the reason each exists; consecutive rules with one reason belong together.
std::vector<SbplRule> always() {
  const std::string processes = "starting processes; what may be executed and inspected is narrowed below";
  const std::string sysctls = "hardware and kernel facts, without the arguments and environments of other processes";
  const std::string runtimes = "semaphores of language runtimes; notifications of the C library";
  const std::string terminals = "terminals work, but nothing can be typed into them for the shell outside to run";
  return {
      {true, {"process*"}, {}, processes},
      {false, {"process-exec*", "process-info*"}, {}, processes},
      {true, {"process-info*", "signal"}, {{SbplMatch::same_sandbox, {}}}, "our own processes, and no others"},
      {true, {"sysctl-read"}, {}, sysctls},
      {false, {"sysctl-read"}, {{SbplMatch::sysctl_prefix, "kern.procargs"}}, sysctls},
      {true, {"ipc-posix-sem"}, {}, runtimes},
      {true, {"ipc-posix-shm-read*"}, {{SbplMatch::posix_name, "apple.shm.notification_center"}}, runtimes},
      {true, {"file-read-data", "file-read-metadata"}, {{SbplMatch::literal, "/"}}, "the loader lists the root directory"},
      {true,
       {"file-read-metadata"},
       {{SbplMatch::literal, "/etc"}, {SbplMatch::literal, "/private"}, {SbplMatch::literal, "/tmp"}, {SbplMatch::literal, "/var"}},
       "links that every path walk crosses"},
      {true, {"file-ioctl"}, {{SbplMatch::literal, "/dev/tty"}, {SbplMatch::regex, "^/dev/ttys[0-9]+$"}}, terminals},
      {false, {"file-ioctl"}, {{SbplMatch::ioctl, std::string(type_into_terminal)}}, terminals},
      {true, {"mach-lookup"}, {}, "system services, which the loader and every framework need"},
  };
}

// The keychain hands out what the credential rules hide, unless the policy exposes the keychain itself.
bool keychain_exposed(const Policy& policy, const HostFacts& facts) {
  const auto& exposed = entries(policy.process_sandbox.credentials);
  return std::find(exposed.begin(), exposed.end(), facts.home.join("Library/Keychains")) != exposed.end();
}

}  // namespace

std::vector<SbplRule> seatbelt_base(const Policy& policy, const HostFacts& facts) {
  auto rules = always();
  rules.push_back({false, {"mach-lookup"}, {{SbplMatch::service, "com.apple.pasteboard.1"}}, "the clipboard often holds a password"});
  if (!keychain_exposed(policy, facts))
    rules.push_back({false,
                     {"mach-lookup"},
                     {{SbplMatch::service, "com.apple.SecurityServer"}, {SbplMatch::service_prefix, "com.apple.securityd"}},
                     "the keychain hands out what the credential rules hide"});
  if (network_reach(policy) != NetworkReach::unrestricted)
    rules.push_back({false,
                     {"mach-lookup"},
                     {{SbplMatch::service, "com.apple.dnssd.service"}, {SbplMatch::service_prefix, "com.apple.nsurlsessiond"}},
                     "resolver and downloader would carry data out on behalf of a command without network"});
  return rules;
}

}  // namespace harn::plan
