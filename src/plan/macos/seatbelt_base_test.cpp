// SPDX-License-Identifier: Apache-2.0
#include "plan/macos/seatbelt_base.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace harn::plan {
namespace {

HostFacts mac() {
  HostFacts facts;
  facts.platform = Platform::macos;
  facts.home = AbsPath::of("/Users/me");
  return facts;
}

Policy networked(Network network) {
  Policy policy;
  policy.side_effect_level = SideEffectLevel::network;
  policy.network = std::move(network);
  return policy;
}

bool closes(const Policy& policy, const SbplFilter& service) {
  const auto rules = seatbelt_base(policy, mac());
  return std::any_of(rules.begin(), rules.end(), [&](const SbplRule& rule) {
    return !rule.allow && std::find(rule.filters.begin(), rule.filters.end(), service) != rule.filters.end();
  });
}

TEST(SeatbeltBase, WhatEveryProfileBeginsWith) {
  EXPECT_EQ(sbpl_text(seatbelt_base({}, mac())), R"((version 1)
(deny default)

; starting processes; what may be executed and inspected is narrowed below
(allow process*)
(deny process-exec* process-info*)

; our own processes, and no others
(allow process-info* signal (target same-sandbox))

; hardware and kernel facts, without the arguments and environments of other processes
(allow sysctl-read)
(deny sysctl-read (sysctl-name-prefix "kern.procargs"))

; semaphores of language runtimes; notifications of the C library
(allow ipc-posix-sem)
(allow ipc-posix-shm-read* (ipc-posix-name "apple.shm.notification_center"))

; the loader lists the root directory
(allow file-read-data file-read-metadata (literal "/"))

; links that every path walk crosses
(allow file-read-metadata
  (literal "/etc")
  (literal "/private")
  (literal "/tmp")
  (literal "/var"))

; terminals work, but nothing can be typed into them for the shell outside to run
(allow file-ioctl
  (literal "/dev/tty")
  (regex "^/dev/ttys[0-9]+$"))
(deny file-ioctl (ioctl-command 2147578994))

; system services, which the loader and every framework need
(allow mach-lookup)

; the clipboard often holds a password
(deny mach-lookup (global-name "com.apple.pasteboard.1"))

; the keychain hands out what the credential rules hide
(deny mach-lookup
  (global-name "com.apple.SecurityServer")
  (global-name-prefix "com.apple.securityd"))

; resolver and downloader would carry data out on behalf of a command without network
(deny mach-lookup
  (global-name "com.apple.dnssd.service")
  (global-name-prefix "com.apple.nsurlsessiond"))
)");
}

TEST(SeatbeltBase, TheKeychainOpensOnlyForAPolicyThatExposesIt) {
  Policy policy;
  EXPECT_TRUE(closes(policy, {SbplMatch::service, "com.apple.SecurityServer"}));
  policy.process_sandbox.credentials = {AbsPath::of("/Users/me/.ssh")};
  EXPECT_TRUE(closes(policy, {SbplMatch::service, "com.apple.SecurityServer"}));
  policy.process_sandbox.credentials->push_back(AbsPath::of("/Users/me/Library/Keychains"));
  EXPECT_FALSE(closes(policy, {SbplMatch::service, "com.apple.SecurityServer"}));
}

TEST(SeatbeltBase, TheResolverServiceOpensWithTheNetwork) {
  const SbplFilter resolver{SbplMatch::service, "com.apple.dnssd.service"};
  EXPECT_TRUE(closes({}, resolver));
  EXPECT_TRUE(closes(networked({.allowed_hosts = {{.host = "example.org"}}}), resolver));
  EXPECT_FALSE(closes(networked({.mode = NetworkMode::unrestricted}), resolver));
}

}  // namespace
}  // namespace harn::plan
