// SPDX-License-Identifier: Apache-2.0
// Nothing is lost and nothing is added: bytes, words, variables, exit codes and signals pass harn as
// they are.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "usability/live_processes.h"
#include "usability/person.h"

namespace harn::test {
namespace {

// Of all that were waited for, in KiB.
long largest_child() {
  rusage used = {};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return used.ru_maxrss;
}

class Bytes : public testing::TestWithParam<Who> {
 protected:
  Person person_{GetParam()};

  std::string quoted_harn(const std::vector<std::string>& words) const {
    std::string out;
    for (const auto& word : person_.harn_words(words)) out += "'" + word + "' ";
    return out;
  }
  // A shell outside, with $IN, $OUT and ${HARN[@]}.
  int shell(const std::string& script) {
    person_.environment()["IN"] = in_;
    person_.environment()["OUT"] = out_;
    return finish(person_.start_program({"/bin/bash", "-c", script}));
  }
  void make_input(std::size_t size) {
    std::mt19937_64 random(size);
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i + 8 <= size; i += 8) {
      const auto word = random();
      bytes.replace(i, 8, reinterpret_cast<const char*>(&word), 8);
    }
    in_ = person_.file("in", bytes);
    out_ = person_.file("out", "");
  }
  bool same() const { return read_whole(in_) == read_whole(out_); }

  std::string in_ = {};
  std::string out_ = {};
};

constexpr std::size_t much = 64u << 20;

// A command with a name that is in nobody else's words: the shell inside works it out.
struct Marked {
  std::string name = "harn-usable-" + std::to_string(2 * ::getpid());
  std::string script = "exec -a harn-usable-$((2 * " + std::to_string(::getpid()) + ")) yes";
  bool lives() const { return !processes_named(name).empty(); }
};

TEST_P(Bytes, SixtyFourMebibytesFromFileToFile) {
  make_input(much);
  EXPECT_EQ(shell(quoted_harn({"run", "--", "cat"}) + R"(< "$IN" > "$OUT")"), 0);
  EXPECT_TRUE(same());
}

TEST_P(Bytes, SixtyFourMebibytesThroughPipes) {
  make_input(much);
  EXPECT_EQ(shell(R"(cat "$IN" | )" + quoted_harn({"run", "--", "cat"}) + R"(| cat > "$OUT"; exit ${PIPESTATUS[1]})"), 0);
  EXPECT_TRUE(same());
}

TEST_P(Bytes, SixtyFourMebibytesCountedOnTheWay) {
  make_input(much);
  EXPECT_EQ(shell(quoted_harn({"run", "--output-limit", "64M", "--", "cat"}) + R"(< "$IN" | cat > "$OUT"; exit ${PIPESTATUS[0]})"), 0);
  EXPECT_TRUE(same());
}

TEST_P(Bytes, ANonBlockingReaderGetsEverything) {
  make_input(1u << 20);
  Pipe pipe;
  ::fcntl(pipe.writer.get(), F_SETFL, O_NONBLOCK);
  const sys::UniqueFd input(::open(in_.c_str(), O_RDONLY | O_CLOEXEC));
  const pid_t pid = person_.start({"run", "--output-limit", "2M", "--", "cat"}, {.in = input.get(), .out = pipe.writer.get()});
  pipe.writer = {};
  std::string received;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(pipe.reader.get(), buffer, sizeof buffer)) > 0;) {
    received.append(buffer, static_cast<std::size_t>(got));
    if (received.size() % (64u << 10) < 4096) ::usleep(1000);  // slower than the command
  }
  EXPECT_EQ(finish(pid), 0);
  EXPECT_EQ(received, read_whole(in_));
}

TEST_P(Bytes, OutputAndErrorsStayApart) {
  const auto ran = person_.harn({"run", "--", "/usr/bin/python3", "-c",
                                 "import os\nfor i in range(5000): os.write(1, b'o' * 99 + b'\\n'); os.write(2, b'e' * 99 + b'\\n')"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(std::ranges::count(ran.out, 'o'), 5000 * 99);
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), 5000);
  EXPECT_EQ(ran.out.size(), 500'000u);
  EXPECT_GE(ran.err.size(), 500'000u);  // notes of harn come before
  EXPECT_EQ(ran.err.substr(ran.err.size() - 500'000).find_first_not_of("e\n"), std::string::npos);
}

TEST_P(Bytes, WhatTheCommandDidNotReadIsLeftForTheNext) {
  in_ = person_.file("in", "one\ntwo\nthree\n");
  out_ = person_.file("out", "");
  const auto loop = "while read -r line; do echo \"$line\"; " + quoted_harn({"run", "--", "true"}) + "; done < \"$IN\" > \"$OUT\"";
  EXPECT_EQ(shell(loop), 0);
  EXPECT_TRUE(same()) << read_whole(out_);
}

TEST_P(Bytes, EveryExitCode) {
  const int step = GetParam() == Who::caller ? 1 : 15;
  for (int code = 0; code < 256; code += step) EXPECT_EQ(person_.sh("exit " + std::to_string(code)).exit_code, code);
}

TEST_P(Bytes, EverySignal) {
  for (int number = 1; number < 32; ++number) {
    const bool harmless = number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH;
    // Nobody in this session could continue it, so the terminal's stop signals do nothing.
    const bool terminal_stop = number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
    const int expected = number == SIGSTOP ? 124 : harmless || terminal_stop ? 0 : 128 + number;
    const auto ran = person_.harn(
        {"run", "--timeout", number == SIGSTOP ? "500ms" : "30s", "--", "sh", "-c", "kill -" + std::to_string(number) + " $$; exit 0"});
    EXPECT_EQ(ran.exit_code, expected) << "signal " << number << "\n" << ran.err;
  }
}

TEST_P(Bytes, EveryByteOfAWord) {
  std::string word;
  for (int byte = 1; byte < 256; ++byte) word += static_cast<char>(byte);
  const auto ran = person_.harn({"run", "--", "printf", "%s|%s|", word, word + word});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, word + "|" + word + word + "|");
}

TEST_P(Bytes, EmptyWordsAndWordsLikeOptions) {
  const auto ran = person_.harn({"run", "--", "printf", "<%s>", "", "--", "-x", "--json", "", " "});
  EXPECT_EQ(ran.out, "<><--><-x><--json><>< >");
}

TEST_P(Bytes, ValuesOfVariables) {
  std::string value = "first\nsecond\n\n=x";
  for (int byte = 1; byte < 256; ++byte) value += static_cast<char>(byte);
  person_.environment()["MANY"] = value;
  person_.environment()["EMPTY"] = "";
  const auto ran = person_.harn({"run", "--env", "GIVEN=a\nb", "--", "printenv", "MANY", "EMPTY", "GIVEN"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, value + "\n\na\nb\n");
}

TEST_P(Bytes, PartialOutputIsKeptWhenTimeIsOver) {
  const std::vector<std::string> command = {"--", "sh", "-c", "printf part; printf wrong >&2; exec sleep 60"};
  std::vector<std::string> words = {"run", "--timeout", "500ms"};
  words.insert(words.end(), command.begin(), command.end());
  const auto plain = person_.harn(words);
  EXPECT_EQ(plain.exit_code, 124);
  EXPECT_EQ(plain.out, "part");
  EXPECT_NE(plain.err.find("wrong"), std::string::npos);
  words.insert(words.begin() + 1, "--json");
  const auto json = person_.harn(words);
  EXPECT_EQ(json.exit_code, 124);
  EXPECT_NE(json.out.find("\"stdout\": \"part\""), std::string::npos) << json.out;
  EXPECT_NE(json.out.find("\"timed_out\": true"), std::string::npos);
}

// The reader takes nothing until the command is gone.
TEST_P(Bytes, ASlowReaderDoesNotKeepTheCommandAlive) {
  for (const std::vector<std::string>& relay : {std::vector<std::string>{}, {"--output-limit", "1G"}}) {
    Pipe pipe;
    const Marked marked;
    std::vector<std::string> words = {"run", "--timeout", "300ms"};
    words.insert(words.end(), relay.begin(), relay.end());
    words.insert(words.end(), {"--", "bash", "-c", marked.script});
    const pid_t pid = person_.start(words, {.out = pipe.writer.get()});
    pipe.writer = {};
    EXPECT_TRUE(await([&] { return marked.lives(); }));
    EXPECT_TRUE(await([&] { return !marked.lives(); }));
    char buffer[65536];
    std::size_t received = 0;
    for (ssize_t got = 0; (got = ::read(pipe.reader.get(), buffer, sizeof buffer)) > 0;) received += static_cast<std::size_t>(got);
    EXPECT_EQ(finish(pid), 124);
    EXPECT_GT(received, 0u);
  }
}

// Waiting for a reader is no reason to be deaf.
TEST_P(Bytes, HarnCanBeEndedWhileItWaitsForAReader) {
  Pipe pipe;
  const Marked marked;
  const pid_t pid =
      person_.start({"run", "--timeout", "300ms", "--output-limit", "1G", "--", "bash", "-c", marked.script}, {.out = pipe.writer.get()});
  EXPECT_TRUE(await([&] { return marked.lives(); }));
  EXPECT_TRUE(await([&] { return !marked.lives(); }));
  // Not without a pause: the first may still be passed to the command, and one that comes after harn gave its
  // signals back, in the moment before it ends, ends it.
  constexpr useconds_t pause_us = 150'000;
  EXPECT_TRUE(await([&] { return ::kill(pid, SIGTERM) == 0 && ::usleep(pause_us) == 0 && has_ended(pid); }));
  EXPECT_EQ(finish(pid), 124);
}

// A time limit is a promise to be back, whoever reads and whoever does not.
TEST_P(Bytes, AReaderThatNeverReadsDoesNotOutlastTheTimeLimit) {
  for (const auto& relay : {std::vector<std::string>{}, {"--output-limit", "1G"}}) {
    Pipe pipe;
    std::vector<std::string> words{"run", "--timeout", "300ms"};
    words.insert(words.end(), relay.begin(), relay.end());
    words.insert(words.end(), {"--", "yes"});
    EXPECT_EQ(finish(person_.start(words, {.out = pipe.writer.get()}), std::chrono::seconds(10)), 124);
  }
}

// What a command says must not cost us more memory than we chose to keep of it.
TEST_P(Bytes, CapturedOutputIsHeldToASize) {
  const auto before = largest_child();
  const pid_t pid = person_.start({"run", "--json", "--", "sh", "-c", "head -c 150000000 /dev/zero; echo went on >&2"});
  EXPECT_EQ(finish(pid), 0);
  EXPECT_LT(largest_child() - before, 256 << 10) << "KiB";
  const auto ran = person_.harn({"run", "--json", "--", "sh", "-c", "head -c 100000000 /dev/zero | tr '\\0' x; echo went on >&2"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_NE(ran.out.find("\"output_truncated\": true"), std::string::npos);
  EXPECT_NE(ran.out.find("\"stderr\": \"went on\\n\""), std::string::npos);
  EXPECT_EQ(std::ranges::count(ran.out, 'x') >> 20, 64);
}

INSTANTIATE_TEST_SUITE_P(As, Bytes, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

}  // namespace
}  // namespace harn::test
