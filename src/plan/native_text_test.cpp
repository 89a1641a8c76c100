// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harn/plan.h"

namespace harn {
namespace {

Plan base_plan(Backend backend) {
  Plan plan;
  plan.backend = backend;
  plan.host = "test-host";
  plan.argv = {"make", "a b", "", "\n"};
  plan.cwd = AbsPath::of("/p");
  return plan;
}

TEST(NativeText, LinuxListsEveryLayer) {
  Plan plan = base_plan(Backend::linux);
  plan.profile = Profile::os_hardened;
  plan.scratch = AbsPath::of("/p/.harn-tmp");
  plan.limits = {.rlimits = {{"cpu", 30, 31}},
                 .cgroup = {{"memory.max", "536870912"}},
                 .watched = {{"processes", 64}},
                 .wall_time_ms = 30000,
                 .idle_timeout_ms = 5,
                 .max_output_bytes = 10};
  plan.egress = EgressPlan{.allow = {{"*.x.org", {}}, {"a.org", std::uint16_t{443}}}, .blocked_ports = {25}};
  plan.env = {.variables = {{"PATH", "secret-value"}, {"A\n", ""}},
              .removed = {{"MY_TOKEN", "secret pattern *_TOKEN"}, {"LD_X", "loader variable"}}};
  const std::vector<std::string> read = {"execute", "read_file", "read_dir"};
  plan.confinement = LinuxConfinement{
      .view = View{.namespaces = {"user", "mount"},
                   .mounts =
                       {{.op = MountOp::tmpfs},
                        {.op = MountOp::bind_read, .source = "/usr", .target = AbsPath::of("/usr"), .note = "preset system_runtime"},
                        {.op = MountOp::symlink, .source = "usr/bin", .target = AbsPath::of("/bin")},
                        {.op = MountOp::bind, .source = "/data/mem", .target = AbsPath::of("/mnt/memory"), .file = true, .note = "memory"}},
                   .loopback_up = true},
      .landlock = LandlockPlan{.abi = 4,
                               .handled_fs = {"execute", "read_file"},
                               .handled_net = {"connect_tcp"},
                               .scoped = {"signal"},
                               .rules = {{AbsPath::of("/usr"), read, "preset system_runtime"},
                                         {AbsPath::of("/p"), {"write_file"}, "workspace"},
                                         {AbsPath::of("/lib"), read, ""}},
                               .ports = {{443, {"connect_tcp"}}}},
      .syscalls = SyscallFilter{
          .arch = "x86_64",
          .rules = {{.names = {"read", "write"}, .reason = "files"},
                    {.names = {"socket"},
                     .when = {{.index = 0, .value = 1}, {.index = 1, .mask = 0xf, .compare = Compare::less_equal, .value = 2}},
                     .reason = "local sockets"},
                    {.names = {"clone3"}, .action = SyscallAction::errno_, .error = 38, .reason = "falls back"},
                    {.names = {"ptrace"}, .action = SyscallAction::kill}}}};
  EXPECT_EQ(native_suffix(plan), "linux");
  EXPECT_EQ(native_text(plan), R"(backend      linux
route        confined
profile      os_hardened
host         test-host
command      make 'a b' '' '\x0a'
cwd          /p
scratch      /p/.harn-tmp
privileges   no_new_privileges drop_capabilities

view
  namespaces user mount, loopback up
  tmpfs            /
  bind_read        /usr                        preset system_runtime
  symlink          /bin -> usr/bin
  bind       file  /mnt/memory from /data/mem  memory

landlock abi 4
  handled_fs  execute read_file
  handled_net connect_tcp
  scoped      signal
  a = execute read_file read_dir
  b = write_file
  a  /usr  preset system_runtime
  b  /p    workspace
  a  /lib
  port 443 connect_tcp

syscalls x86_64, otherwise errno 1
  allow     files
    read write
  allow     local sockets
    socket
    when arg0 == 0x1 and (arg1 & 0xf) <= 0x2
  errno 38  falls back
    clone3
  kill
    ptrace

limits
  rlimit      cpu           soft 30 hard 31
  cgroup      memory.max    536870912
  watched     processes     64
  supervised  wall_time     30000 ms
  supervised  idle_timeout  5 ms
  supervised  max_output    10 bytes

egress
  allow  *.x.org    every port
  allow  a.org      port 443
  block  *          port 25
  relay  localhost  port 3128

environment
  kept
    'A\x0a' PATH
  removed
    MY_TOKEN  secret pattern *_TOKEN
    LD_X      loader variable
)");
}

TEST(NativeText, LongSyscallGroupsWrapBeforeColumn100) {
  Plan plan = base_plan(Backend::linux);
  SyscallRule rule{.reason = "many"};
  for (int i = 0; i < 60; ++i) rule.names.push_back("syscall_" + std::to_string(i));
  plan.confinement = LinuxConfinement{
      .syscalls = SyscallFilter{.arch = "x86_64", .rules = {rule}}, .no_new_privileges = false, .drop_capabilities = false};
  const auto text = native_text(plan);
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  EXPECT_GT(longest, 85u);
  EXPECT_LE(longest, 100u);
  EXPECT_NE(text.find("syscall_59"), std::string::npos);
  EXPECT_EQ(text.find("privileges"), std::string::npos);
}

TEST(NativeText, LongAccessListsHangUnderTheirFirstWord) {
  Plan plan = base_plan(Backend::linux);
  LandlockPlan landlock{.abi = 9, .rules = {{AbsPath::of("/n"), {}, ""}}};
  for (int i = 0; i < 12; ++i) landlock.handled_fs.push_back("right_number_" + std::to_string(i));
  plan.confinement = LinuxConfinement{.landlock = landlock};
  const auto text = native_text(plan);
  EXPECT_NE(text.find("\n  handled_fs  right_number_0 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n              right_number_5 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  a = nothing\n  a  /n\n"), std::string::npos) << text;
}

TEST(NativeText, ManyDistinctAccessListsGetTwoLetters) {
  Plan plan = base_plan(Backend::linux);
  LandlockPlan landlock{.abi = 1};
  for (int i = 100; i < 128; ++i) landlock.rules.push_back({AbsPath::of("/r" + std::to_string(i)), {"x" + std::to_string(i)}, ""});
  plan.confinement = LinuxConfinement{.landlock = landlock};
  const auto text = native_text(plan);
  EXPECT_NE(text.find("\n  z = x125\n  aa = x126\n  ab = x127\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  ab  /r127\n"), std::string::npos) << text;
}

TEST(NativeText, WrappersPrintOneWordPerLine) {
  Plan plan = base_plan(Backend::bubblewrap);
  plan.egress = EgressPlan{};
  plan.confinement = Wrapper{.argv = {"/usr/bin/bwrap", "--ro-bind", "/a b", "", " x", "@file:seccomp.bpf", "two\nlines"},
                             .files = {{"seccomp.bpf", ""}, {"seccomp.json", "abc"}},
                             .syscalls = SyscallFilter{.arch = "aarch64", .otherwise = SyscallAction::notify}};
  EXPECT_EQ(native_suffix(plan), "argv");
  EXPECT_EQ(native_text(plan), R"(/usr/bin/bwrap
--ro-bind
/a b
''
' x'
@file:seccomp.bpf
'two\x0alines'

file seccomp.bpf

file seccomp.json
  3 bytes, sha256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad

syscalls aarch64, otherwise notify

egress
  nothing
  relay    localhost  port 3128
)");
}

TEST(NativeText, MacosIsTheProfileItself) {
  Plan plan = base_plan(Backend::macos);
  plan.confinement = Wrapper{.argv = {"sandbox-exec"}, .profile = "(version 1)\n(deny default)"};
  EXPECT_EQ(native_suffix(plan), "sb");
  EXPECT_EQ(native_text(plan), "(version 1)\n(deny default)\n");
}

TEST(NativeText, WindowsIsATableOfAclsAndJobLimits) {
  Plan plan = base_plan(Backend::windows);
  plan.cwd = AbsPath::of("C:/p");
  plan.confinement = AppContainer{.name = "harn",
                                  .grants = {{.path = AbsPath::of("C:/Users/me/p"), .modify = true, .note = "workspace"},
                                             {.path = AbsPath::of("C:/x.txt"), .inherit = false},
                                             {.path = AbsPath::of("C:/secret"), .stops_inheritance = true}},
                                  .environment = {{"TEMP", "C:\\t"}},
                                  .job_limits = {{"active_process", 64}},
                                  .job_flags = {"kill_on_job_close"},
                                  .ui_limits = {"desktop"}};
  EXPECT_EQ(native_suffix(plan), "acl");
  EXPECT_EQ(native_text(plan), R"(backend      windows
route        confined
profile      worktree
host         test-host
command      make 'a b' '' '\x0a'
cwd          C:/p
container    harn
capabilities none
job flags    kill_on_job_close
ui limits    desktop

acl
  grant  modify        tree  C:\Users\me\p  workspace
  grant  read_execute  file  C:\x.txt
  stop   inherited     tree  C:\secret

job limits
  active_process  64

container environment
  TEMP  C:\t
)");
}

TEST(NativeText, OpenbsdListsUnveilsAndPromises) {
  Plan plan = base_plan(Backend::openbsd);
  plan.confinement = PledgeUnveil{
      .unveils = {{AbsPath::of("/p"), "rwc"}, {AbsPath::of("/p/secret"), ""}}, .promises = {"stdio", "rpath"}, .exec_promises = {"stdio"}};
  EXPECT_EQ(native_suffix(plan), "unveil");
  const auto text = native_text(plan);
  EXPECT_EQ(text.substr(text.find("\nunveil")), R"(
unveil
  rwc  /p
  -    /p/secret

pledge
  promises      stdio rpath
  execpromises  stdio
)");
}

TEST(NativeText, NothingConfinedSaysSo) {
  Plan plan = base_plan(Backend::noop);
  plan.route = Route::refused;
  plan.refusal = Refusal{.message = "no backend works here"};
  EXPECT_EQ(native_suffix(plan), "txt");
  const auto text = native_text(plan);
  EXPECT_NE(text.find("refused      no backend works here\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("confinement  none\n")) << text;
}

}  // namespace
}  // namespace harn
