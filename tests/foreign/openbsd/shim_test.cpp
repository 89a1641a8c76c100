// SPDX-License-Identifier: Apache-2.0
// The shim itself, which every other test here rests on: is it as OpenBSD's manual says?
#include <filesystem>

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "usability/person.h"

namespace harn::test {
namespace {

class Shim : public testing::TestWithParam<Who> {
 protected:
  Shim() : person(GetParam()), program(person.root() + "/probe") { std::filesystem::copy_file(HARN_OPENBSD_PROBE, program); }

  // What the probe said, and how it ended.
  Finished probe(std::vector<std::string> words) {
    Pipe said;
    words.insert(words.begin(), program);
    if (GetParam() == Who::nobody)
      words.insert(words.begin(), {"/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"});
    const auto pid = person.start_program(words, {.out = said.writer.get(), .err = said.writer.get()});
    said.writer = {};
    Finished out;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(said.reader.get(), buffer, sizeof buffer)) > 0;)
      out.out.append(buffer, static_cast<std::size_t>(got));
    out.exit_code = finish(pid);
    return out;
  }

  Person person;
  const std::string program;  // a copy: the build directory may be closed for others
};

INSTANTIATE_TEST_SUITE_P(Everybody, Shim, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

TEST_P(Shim, WithoutTheCallsEverythingIsThere) {
  const auto known = person.file("project/known", "x");
  EXPECT_EQ(probe({"read", known, "write", known, "inet", "unix"}).out, "read ok\nwrite ok\ninet ok\nunix ok\n");
}

TEST_P(Shim, AfterTheLockOnlyWhatWasUnveiledExists) {
  const auto known = person.file("project/known", "x");
  const auto other = person.file("other/secret", "x");
  EXPECT_EQ(probe({"unveil", person.project(), "r", "lock", "read", known, "read", other, "look", other, "write", known}).out,
            "unveil ok\nlock ok\nread ok\nread ENOENT\nlook ENOENT\nwrite EROFS\n");
}

TEST_P(Shim, TheNearestEntryReplacesTheOuterOne) {
  const auto top = person.file("project/top", "x");
  const auto inner = person.file("project/docs/inner", "x");
  const auto hidden = person.file("project/docs/secret/hidden", "x");
  const auto again = person.file("project/docs/again/file", "x");
  const auto said = probe({"unveil",
                           person.project(),
                           "rwxc",
                           "unveil",
                           person.project() + "/docs",
                           "rx",
                           "unveil",
                           person.project() + "/docs/secret",
                           "",
                           "unveil",
                           person.project() + "/docs/again",
                           "rwc",
                           "lock",  //
                           "write",
                           top,
                           "create",
                           person.project() + "/new",
                           "read",
                           inner,
                           "write",
                           inner,
                           "read",
                           hidden,
                           "write",
                           again});
  EXPECT_EQ(said.out,
            "unveil ok\nunveil ok\nunveil ok\nunveil ok\nlock ok\nwrite ok\ncreate ok\nread ok\nwrite EROFS\nread ENOENT\nwrite ok\n");
}

TEST_P(Shim, WritingIsNotCreating) {
  const auto there = person.file("project/there", "x");
  EXPECT_EQ(probe({"unveil", person.project(), "rw", "lock", "write", there, "create", person.project() + "/new", "remove", there}).out,
            "unveil ok\nlock ok\nwrite ok\ncreate EACCES\nremove EACCES\n");
}

TEST_P(Shim, ALockedListCannotBeChanged) {
  EXPECT_EQ(probe({"unveil", person.project(), "r", "lock", "unveil", "/", "rwxc", "lock"}).out,
            "unveil ok\nlock ok\nunveil EPERM\nlock EPERM\n");
}

TEST_P(Shim, WhatNobodyKnowsIsRefused) {
  EXPECT_EQ(probe({"unveil", person.project(), "rz", "unveil", "/not/there/at/all", "r", "pledge", "stdio everything"}).out,
            "unveil EINVAL\nunveil ENOENT\npledge EINVAL\n");
}

TEST_P(Shim, PromisesOnlyShrink) {
  EXPECT_EQ(probe({"pledge", "stdio rpath inet", "inet", "pledge", "stdio rpath", "pledge", "stdio rpath inet"}).out,
            "pledge ok\ninet ok\npledge ok\npledge EPERM\n");
  EXPECT_EQ(probe({"pledge-exec", "stdio rpath exec", "stdio rpath exec prot_exec", "exec", program, "pledge", "stdio rpath", "pledge",
                   "stdio rpath inet"})
                .out,
            "pledge-exec ok\npledge ok\npledge EPERM\n");
}

TEST_P(Shim, ABrokenPromiseEndsTheProcessOrIsAnError) {
  const auto ended = probe({"pledge", "stdio rpath", "inet"});
  EXPECT_EQ(ended.out, "pledge ok\n");
  EXPECT_EQ(ended.exit_code, 128 + SIGABRT);
  EXPECT_EQ(probe({"pledge", "stdio rpath error", "inet", "inet6", "unix"}).out, "pledge ok\ninet ENOSYS\ninet6 ENOSYS\nunix ENOSYS\n");
}

TEST_P(Shim, APromiseIsAboutHowAFileIsOpened) {
  const auto known = person.file("project/known", "x");
  EXPECT_EQ(probe({"pledge", "stdio rpath error", "read", known, "write", known, "create", known + "2", "remove", known}).out,
            "pledge ok\nread ok\nwrite ENOSYS\ncreate ENOSYS\nremove ENOSYS\n");
}

}  // namespace
}  // namespace harn::test
