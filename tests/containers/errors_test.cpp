// SPDX-License-Identifier: Apache-2.0
// What stands between a command and its container is told in one sentence, with what to do about it.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "containers/engine_ground.h"

namespace harn::test {
namespace {

// It says `what`, has a hint, and did not run.
void expect_error(const ProgramRun& run, std::string_view what) {
  EXPECT_EQ(run.exit_code, 125) << run.out;
  EXPECT_NE(run.err.find(what), std::string::npos) << what << "\n" << run.err;
  EXPECT_NE(run.err.find("hint: "), std::string::npos) << run.err;
}

TEST_F(Containers, AMissingEngineASilentDaemonAMissingImageAndAnUnwritableMountAreOneSentenceEach) {
  const auto& engine = ground().engine();
  const auto run = ground().harn_words("-- touch ran");
  // Only for this one command: nothing of its name is a program.
  expect_error(
      ground().shell(fmt::format("unshare --mount sh -c 'for p in /usr/bin/{0} /usr/local/bin/{0}; do test ! -e $p || mount --bind "
                                 "/dev/null $p; done; {1}'",
                                 engine, run)),
      fmt::format("backend '{0}' was asked for, but {0} is not installed", engine));
  if (engine == "docker")
    expect_error(ground().shell("DOCKER_HOST=unix:///var/tmp/nothing.sock " + run),
                 "the docker daemon at unix:///var/tmp/nothing.sock does not answer");
  expect_error(harn("--image harn-nowhere:9 -- touch ran"), "the image 'harn-nowhere:9' is not on this machine");
  expect_error(ground().shell("mkdir theirs; chown 12345 theirs; cd theirs; " + run), "the container's user cannot write the workspace");
  for (const auto* place : {"ran", "theirs/ran"}) EXPECT_FALSE(std::filesystem::exists(ground().work().join(place).text()));
  std::filesystem::remove(ground().work().join("theirs").text());
}

TEST_F(Containers, TheDefaultImageIsTheUsersUnlessSomebodySaysOtherwise) {
  const auto settings = ground().root() + "/home/.config/harn";
  std::filesystem::create_directories(settings);
  std::ofstream(settings + "/config.toml") << "[sandbox]\ndocker_image = \"harn-hostile:1\"\n";
  const auto greeting = [](const std::string& before, const std::string& flags) {
    return ground().shell(before + ground().harn_words(flags + " -- sh -c 'echo $GREETING'")).out;
  };
  EXPECT_EQ(greeting("unset HARN_IMAGE; ", ""), "image\n");
  EXPECT_EQ(greeting("HARN_IMAGE=harn-test:1 ", ""), "\n");
  EXPECT_EQ(greeting("unset HARN_IMAGE; ", "--image harn-test:1"), "\n");
  // A Harness project that asks for a container gets one of the operator's engine, of the image it names.
  std::filesystem::create_directory(ground().work().join(".harness").text());
  std::ofstream(ground().work().join(".harness/config.toml").text())
      << "[sandbox]\nenabled = true\nmode = \"docker\"\ndocker_image = \"harn-test:1\"\n";
  const auto project =
      ground().shell(fmt::format("unset HARN_IMAGE; HARN_ENGINE={} {} run -- sh -c 'echo $GREETING; test -e /bin/hog && echo inside'",
                                 ground().engine(), HARN_BINARY));
  EXPECT_EQ(project.out, "\ninside\n") << project.err;
  expect_error(ground().shell(fmt::format("HARN_ENGINE=containerd {} run --sandbox docker -- true", HARN_BINARY)),
               "HARN_ENGINE is 'containerd', which is no container engine");
  std::filesystem::remove_all(ground().work().join(".harness").text());
  std::filesystem::remove_all(settings);
}

TEST_F(Containers, WhatMayNotRunIsOneSentenceAndAHint) {
  const auto says = [](const std::string& words, std::string_view what) { expect_error(harn(words), what); };
  says("--image=--privileged -- true", "is not the name of an image");
  says("--read /etc -- true", "the system directory '/etc'");
  says("--read /usr/bin -- true", "the system directory '/usr/bin'");
  const bool docker = ground().engine() == "docker";
  if (docker) says("--read " + ground().root() + " -- true", "decides about the container engine");
  const auto elsewhere = ground().shell((docker ? "DOCKER_HOST=tcp://192.0.2.1:2375 " : "CONTAINER_HOST=tcp://192.0.2.1:2375 ") +
                                        ground().harn_words("-- true"));
  EXPECT_NE(elsewhere.err.find("an engine there would mount other files"), std::string::npos) << elsewhere.err;
}

}  // namespace
}  // namespace harn::test
