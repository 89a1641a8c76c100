// SPDX-License-Identifier: Apache-2.0
#include "sandbox/session_relay.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>

#include "base/text.h"
#include "run/gates_into.h"
#include "sandbox/relay_settings.h"
#include "sandbox/relay_talk.h"
#include "sys/files.h"

namespace harn::sandbox {
namespace {

constexpr int patience_ms = 2000;

Error lost() {
  return {.code = ErrorCode::not_available,
          .stage = Stage::supervise,
          .message = "the session's relay does not answer",
          .hint = "say again which hosts may be reached: a new relay is started then"};
}

bool is_gone(const Error& error) { return error.os_error == ECONNREFUSED || error.os_error == ENOENT; }

// Nobody is admitted by it: the rules come when everything is in place.
Result<egress::RelaySettings> closed_settings(const SessionRelay& relay) {
  EgressPlan nobody{.relay_port = relay.plan.egress ? relay.plan.egress->relay_port : EgressPlan{}.relay_port};
  HARN_TRY(settings, relay_settings(nobody, relay.nameservers));
  settings.stays = true;
  settings.secret = relay.address.secret;
  return settings;
}

Result<sys::UniqueFd> life_of(pid_t keeper) {
  sys::UniqueFd life(static_cast<int>(::syscall(SYS_pidfd_open, keeper, 0)));
  if (!life) return fail(sys::os_failure("pidfd_open", "the session's keeper", errno, Stage::prepare));
  return life;
}

Status start(const SessionRelay& relay) {
  const auto& address = relay.address;
  HARN_TRY(life, life_of(relay.keeper));
  // Now the number is surely the keeper's: it answers, and its number has not been given to anybody else since.
  if (auto alive = run::ask_keeper(address.directory, run::keeper::Kind::state); !alive) return fail(std::move(alive).error());
  ::unlink(address.directory.join(address.socket.name).text().c_str());
  HARN_TRY(listener, run::listen_in(address.directory, address.socket));
  HARN_TRY(settings, closed_settings(relay));
  HARN_TRY(file, settings_file(settings));
  HARN_TRY(channel, make_channel());
  std::vector<egress::ReceivedGate> gates;
  if (relay.plan.egress) {
    HARN_TRY(published, published_gates(*relay.plan.egress));
    gates = std::move(published);
  }
  gates.push_back({.note = {.kind = sys::GateKind::life}, .socket = std::move(life)});
  gates.push_back({.note = {.kind = sys::GateKind::control}, .socket = std::move(listener)});
  HARN_OK(egress::send_gates(channel.ours.get(), gates));
  HARN_TRY(prepared,
           prepare_relay(
               {.sandbox = std::get<LinuxConfinement>(relay.plan.confinement), .channel = channel.theirs.get(), .settings = file.get()}));
  if (auto started = run::spawn_detached(std::move(prepared.child)); !started) return fail(std::move(started).error());
  return {};
}

}  // namespace

Result<RelayLink> RelayLink::open(const RelayAddress& address) {
  HARN_TRY(channel, run::connect_in(address.directory, address.socket));
  RelayLink link(std::move(channel));
  HARN_OK(egress::send_message(link.channel(), address.secret));
  return link;
}

Result<std::string> RelayLink::ask(std::string_view question, int descriptor) {
  HARN_OK(egress::send_message(channel(), question, descriptor));
  auto answer = read_answer(channel());
  if (answer.empty()) return fail(lost());
  return answer;
}

Result<std::vector<std::uint16_t>> RelayLink::served() {
  HARN_TRY(answer, ask("served"));
  std::vector<std::uint16_t> ports;
  const auto words = base::split(answer, '\t');
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::uint16_t port = 0;
    if (std::from_chars(words[i].data(), words[i].data() + words[i].size(), port).ec != std::errc()) return fail(lost());
    ports.push_back(port);
  }
  return ports;
}

Status RelayLink::apply(const std::optional<EgressPlan>& egress, const std::vector<std::string>& nameservers) {
  HARN_TRY(settings, relay_settings(egress.value_or(EgressPlan{}), nameservers));
  HARN_TRY(file, settings_file(settings));
  HARN_TRY(answer, ask("rules", file.get()));
  if (answer == "done") return {};
  return fail(Error{.code = ErrorCode::protocol, .stage = Stage::supervise, .message = answer.substr(answer.find('\t') + 1)});
}

Status RelayLink::watch() {
  HARN_TRY(answer, ask("watch"));
  if (answer != "watching") return fail(lost());
  return {};
}

void RelayLink::report(Outcome& outcome) const {
  ::shutdown(channel(), SHUT_WR);
  egress::NetworkReport seen;
  const bool complete = read_report(channel(), seen);
  add_report(std::move(seen), complete, outcome);
}

void RelayLink::end() const {
  if (egress::send_message(channel(), "end")) await_end();
}

void RelayLink::await_end() const {
  pollfd gone = {.fd = channel(), .events = POLLIN, .revents = 0};
  while (::poll(&gone, 1, patience_ms) < 0 && errno == EINTR) {
  }
}

Status name_hosts(const SessionRelay& relay) {
  auto link = RelayLink::open(relay.address);
  const bool fresh = !link && is_gone(link.error());
  if (!link && !fresh) return fail(std::move(link).error());
  if (fresh) {
    HARN_OK(start(relay));
    link = RelayLink::open(relay.address);
    if (!link) return fail(std::move(link).error());
  }
  std::optional<std::vector<std::uint16_t>> served;
  if (!fresh) {
    HARN_TRY(ports, link->served());
    if (!ports.empty()) served = std::move(ports);
  }
  if (relay.plan.egress) {
    auto opened = run::open_gates_into(
        {.directory = relay.address.directory, .egress = *relay.plan.egress, .served = std::move(served), .channel = link->channel()});
    // A relay without its gates serves nobody, and would be taken for one that does.
    if (!opened && fresh) link->end();
    HARN_OK(std::move(opened));
  }
  return link->apply(relay.plan.egress, relay.nameservers);
}

}  // namespace harn::sandbox
