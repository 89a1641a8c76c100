// SPDX-License-Identifier: Apache-2.0
// Unix sockets without user namespaces: those a policy names and those of the command itself work in every form,
// all others are refused, whoever listens there.
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "base/text.h"
#include "confine/support/scene.h"
#include "confine/support/tools.h"
#include "confine/support/ways.h"

namespace harn::confine {
namespace {

struct Row {
  std::string id;
  std::string probe;
  std::vector<std::string> args;
  std::string expected;
};

struct Setting {
  uid_t uid = 0;
  std::string pretended = "userns=no";
  std::vector<std::string> sockets = {};  // the policy names
  bool confined = true;
};

std::map<std::string, std::string> words_of(const Setting& setting, Scene& scene, const std::vector<Row>& rows,
                                            std::string* receipt = nullptr) {
  const auto list = scene.path("work") + "/cases";
  std::ofstream cases(list);
  for (const auto& row : rows) {
    cases << row.id << '\t' << row.probe;
    for (const auto& arg : row.args) cases << '\t' << scene.fill(arg);
    cases << '\n';
  }
  cases.close();
  const auto policy = scene.path("shared") + "/policy.toml";
  std::ofstream text(policy);
  text << "[process_sandbox]\nunix_sockets = [";
  for (const auto& socket : setting.sockets) text << "{ path = \"" << scene.fill(socket) << "\" }, ";
  text << "]\n";
  text.close();
  const auto file = scene.path("run") + "/receipt.json";
  std::vector<std::string> argv;
  if (setting.confined)
    argv = {scene.path("tools") + "/harn",
            "run",
            "--policy",
            policy,
            "--read",
            scene.path("tools"),
            "--read",
            scene.path("shared"),
            "--write",
            scene.path("work"),
            "--receipt",
            file,
            "--"};
  argv.insert(argv.end(), {scene.path("tools") + "/harn_probe", "--cases", list});
  const auto finished = run({.argv = argv,
                             .environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", scene.path("home")}, {"HARN_PRETEND", setting.pretended}},
                             .cwd = scene.path("work"),
                             .uid = setting.uid});
  EXPECT_EQ(finished.exit_code, 0);
  if (receipt != nullptr) {
    std::ifstream told(file);
    *receipt = {std::istreambuf_iterator<char>(told), {}};
  }
  std::map<std::string, std::string> words;
  for (const auto line : base::split(finished.out, '\n'))
    if (const auto tab = line.find('\t'); tab != std::string_view::npos)
      words.insert_or_assign(std::string(line.substr(0, tab)), std::string(line.substr(tab + 1)));
  return words;
}

void expect_words(const Setting& setting, const std::vector<Row>& rows, std::string* receipt = nullptr) {
  Scene scene(setting.uid, {});
  const auto words = words_of(setting, scene, rows, receipt);
  for (const auto& row : rows) {
    const auto found = words.find(row.id);
    EXPECT_EQ(found == words.end() ? "it never ran" : found->second, setting.confined ? row.expected : "ok") << row.id;
  }
}

std::vector<uid_t> callers() { return ::getuid() == 0 ? std::vector<uid_t>{0, 65534} : std::vector<uid_t>{::getuid()}; }

const std::vector<Row> streams = {
    {"named", "unix_connect", {"{outside}/stream.sock"}, "ok"},
    {"named_by_a_link", "unix_connect_by_link", {"{outside}/stream.sock", "{work}/bin/link"}, "ok"},
    {"beside_it", "unix_connect", {"{shared}/granted.sock"}, "EACCES"},
    {"own", "lawful_serve", {"{work}/bin/own"}, "ok"},
    {"own_relative", "lawful_serve", {"bin/relative"}, "ok"},
    {"in_a_queue", "unix_queue_to_connect", {"{work}/bin/queue"}, "ok"},
    {"messages", "unix_stream_of_messages", {}, "ok"},
};

const std::vector<Row> refused = {
    {"settings", "unix_impersonate", {"{work}/harn.toml"}, "EADDRINUSE"},
    {"absent_settings", "unix_impersonate", {"{work}/.envrc"}, "EACCES"},
    {"read_only", "unix_impersonate", {"{shared}/new.sock"}, "EACCES"},
    {"outside", "unix_impersonate", {"{outside}/new.sock"}, "EACCES"},
};

const std::vector<Row> datagrams = {
    {"sent", "unix_send", {"{outside}/dgram.sock"}, "ok"},
    {"connected", "unix_connect_datagram", {"{outside}/dgram.sock"}, "ok"},
    {"from_a_pair", "unix_send_from_pair", {"{outside}/dgram.sock"}, "ok"},
    {"by_message", "unix_message_from_pair", {"{outside}/dgram.sock"}, "ok"},
    {"two", "unix_send_many", {"{outside}/dgram.sock", "{outside}/dgram.sock"}, "ok"},
    {"descriptor", "unix_send_descriptor", {"{outside}/dgram.sock"}, "ok"},
    {"own", "unix_answer_datagram", {"{work}/bin/d"}, "ok"},
    {"pair", "lawful_datagram_pair", {}, "ok"},
    {"messages", "unix_stream_of_messages", {}, "ok"},
};

const std::vector<Row> refused_datagrams = {
    {"stream", "unix_send", {"{outside}/stream.sock"}, "EACCES"},
    {"two", "unix_send_many", {"{outside}/dgram.sock", "{outside}/stream.sock"}, "EACCES"},
    {"by_message", "unix_message_from_pair", {"{outside}/stream.sock"}, "EACCES"},
    {"reconnected", "unix_reconnect_pair", {"{outside}/stream.sock"}, "EACCES"},
    {"credentials", "unix_send_credentials", {"{outside}/dgram.sock"}, "EPERM"},
    {"no_descriptor", "unix_send_missing_descriptor", {"{outside}/dgram.sock"}, "EBADF"},
    {"abstract", "unix_send", {"{abstract}-dgram"}, "EPERM"},
    {"abstract_by_message", "unix_message_from_pair", {"{abstract}-dgram"}, "EPERM"},
};

bool supported() { return missing_here(Way::bare).empty(); }

TEST(SupervisedSockets, NamedAndOwnSocketsWork) {
  if (!supported()) GTEST_SKIP() << missing_here(Way::bare);
  for (const auto uid : callers()) {
    expect_words({.uid = uid, .confined = false}, streams);
    std::string receipt;
    expect_words({.uid = uid, .sockets = {"{outside}/stream.sock"}}, streams, &receipt);
    EXPECT_EQ(receipt.find("named_unix_sockets"), std::string::npos) << receipt;
    expect_words({.uid = uid, .pretended = "userns=no,landlock=1", .sockets = {"{outside}/stream.sock"}}, streams);
  }
}

TEST(SupervisedSockets, NamesThatMustNotComeIntoBeingAreNotBound) {
  if (!supported()) GTEST_SKIP() << missing_here(Way::bare);
  for (const auto uid : callers()) expect_words({.uid = uid}, refused);
}

TEST(SupervisedSockets, DatagramsReachWhomThePolicyNames) {
  if (!supported()) GTEST_SKIP() << missing_here(Way::bare);
  for (const auto uid : callers()) {
    expect_words({.uid = uid, .confined = false}, datagrams);
    expect_words({.uid = uid, .sockets = {"{outside}/dgram.sock"}}, datagrams);
    expect_words({.uid = uid, .sockets = {"{outside}/dgram.sock"}}, refused_datagrams);
    expect_words({.uid = uid, .pretended = "userns=no,landlock=5", .sockets = {"{outside}/dgram.sock"}}, refused_datagrams);
  }
}

TEST(SupervisedSockets, NoStormSendsElsewhere) {
  if (!supported()) GTEST_SKIP() << missing_here(Way::bare);
  const char* asked = std::getenv("HARN_STORMS");
  const std::string often = asked != nullptr ? asked : "4000";
  const Setting setting{.uid = callers().back(), .sockets = {"{outside}/dgram.sock"}};
  Scene scene(setting.uid, {});
  const std::vector<Row> rows = {
      {"messages", "storm_of_messages", {"{work}/bin/m", "{outside}/dgram.sock", "{abstract}-dgram", often}, "ok"},
      {"to_a_name", "storm_of_messages", {"{work}/bin/n", "{outside}/dgram.sock", "{outside}/stream.sock", often}, "ok"},
  };
  const auto words = words_of(setting, scene, rows);
  for (const auto& row : rows) EXPECT_EQ(words.contains(row.id) ? words.at(row.id) : "never ran", "ok") << row.id;
  auto counts = scene.end_victim();
  EXPECT_GT(counts["dgram"], 0);
  EXPECT_EQ(counts["abstract_dgram"], 0);
  EXPECT_EQ(counts["stream"], 0);
}

}  // namespace
}  // namespace harn::confine
