// SPDX-License-Identifier: Apache-2.0
#include "explain/explained.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include <gtest/gtest.h>

#include "base/json.h"

namespace harn::test {

std::string Stand::name() const {
  return std::string(tier == Tier::view ? "WithAView" : "WithoutNamespaces") + (who == Who::caller ? "" : "AsNobody");
}

// Everything as the caller with a view and, where that is another user, as that one without.
std::vector<Stand> explain_stands() { return {{Tier::view, Who::caller}, {Tier::bare, everybody().back()}}; }

struct Explaining::Listeners {
  sys::UniqueFd loopback = {};
  sys::UniqueFd named = {};
  sys::UniqueFd abstract = {};
  std::uint16_t port = 0;
  std::string abstract_name = "harn-explain-" + std::to_string(::getpid());

  explicit Listeners(const std::string& path) {
    loopback = sys::UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in here = {};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    listen_at(loopback.get(), &here, size);
    ::getsockname(loopback.get(), reinterpret_cast<sockaddr*>(&here), &size);
    port = ntohs(here.sin_port);
    named = sys::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    abstract = sys::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un place = {};
    place.sun_family = AF_UNIX;
    path.copy(place.sun_path, sizeof place.sun_path - 1);
    listen_at(named.get(), &place, sizeof place);
    ::chmod(path.c_str(), 0777);
    place = {};
    place.sun_family = AF_UNIX;
    abstract_name.copy(place.sun_path + 1, sizeof place.sun_path - 1);
    listen_at(abstract.get(), &place, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + abstract_name.size()));
  }

  static void listen_at(int fd, const void* address, socklen_t size) {
    EXPECT_EQ(::bind(fd, static_cast<const sockaddr*>(address), size), 0) << std::strerror(errno);
    EXPECT_EQ(::listen(fd, 16), 0);
  }
};

namespace {

// What the host can do is proved once, not by every person anew.
std::string proved_for(Who who) {
  static const TempDir places[2];
  const auto& place = places[who == Who::nobody ? 1 : 0].root();
  constexpr uid_t nobody_id = 65534;
  if (who == Who::nobody) {
    EXPECT_EQ(::chown(place.c_str(), nobody_id, nobody_id), 0);
  }
  return place;
}

}  // namespace

Explaining::Explaining(const Stand& stand) : person_(stand.who) {
  person_.environment()["XDG_RUNTIME_DIR"] = proved_for(stand.who);
  if (stand.tier == Tier::bare) person_.environment()["HARN_PRETEND"] = "userns=no";
  person_.file("out/kept", "");
  outside_ = person_.root() + "/out";
  listeners_ = std::make_unique<Listeners>(outside_ + "/service");
}
Explaining::~Explaining() = default;

std::string Explaining::fill(std::string_view text) const {
  std::string out(text);
  const std::pair<std::string_view, std::string> words[] = {{"{P}", person_.project()},
                                                            {"{O}", outside_},
                                                            {"{H}", person_.home()},
                                                            {"{PORT}", std::to_string(listeners_->port)},
                                                            {"{ABSTRACT}", listeners_->abstract_name}};
  for (const auto& [word, value] : words)
    for (auto at = out.find(word); at != std::string::npos; at = out.find(word, at + value.size())) out.replace(at, word.size(), value);
  return out;
}

void Explaining::prepare(std::string_view script) const {
  if (script.empty()) return;
  auto words = person_.harn_words({});
  words.pop_back();  // all but harn itself
  words.insert(words.end(), {"/bin/sh", "-ec", fill(script)});
  EXPECT_EQ(finish(person_.start_program(words)), 0) << script;
}

namespace {

std::string text_of(const base::Value& row, std::string_view name) {
  const auto* found = row.find(name);
  return found == nullptr ? std::string() : found->string();
}

std::vector<Told> denials_in(const std::string& json) {
  std::vector<Told> out;
  const auto parsed = base::parse_json(json);
  const auto* rows = parsed ? parsed->find("denials") : nullptr;
  if (rows == nullptr) return out;
  for (const auto& row : rows->array()) {
    Told told{.access = text_of(row, "access"),
              .target = text_of(row, "target"),
              .rule = text_of(row, "rule"),
              .remedy = text_of(row, "remedy"),
              .hint = text_of(row, "hint")};
    if (const auto* processes = row.find("processes"))
      for (const auto& process : processes->array()) told.processes.push_back(process.string());
    out.push_back(std::move(told));
  }
  return out;
}

}  // namespace

Explained Explaining::run_words(const std::vector<std::string>& flags, const std::vector<std::string>& command) const {
  std::vector<std::string> words = {"run", "--backend", "linux", "--json", "--explain"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  const auto ran = person_.harn(words);
  return {.exit_code = ran.exit_code, .denials = denials_in(ran.out), .all = ran.out.substr(0, ran.out.find("\"receipt\"")) + ran.err};
}

Explained Explaining::run(const std::vector<std::string>& flags, std::string_view script) const {
  return run_words(flags, {"sh", "-c", fill(script)});
}

std::vector<std::string> words_of(const std::string& flags) {
  std::vector<std::string> out;
  std::string word;
  bool quoted = false;
  for (const char letter : flags) {
    if (letter == '\'') quoted = !quoted;
    else if (letter == ' ' && !quoted) {
      if (!word.empty()) out.push_back(std::move(word));
      word.clear();
    } else word += letter;
  }
  if (!word.empty()) out.push_back(std::move(word));
  return out;
}

}  // namespace harn::test
