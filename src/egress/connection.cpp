// SPDX-License-Identifier: Apache-2.0
#include "egress/connection.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/text.h"
#include "egress/http_connect.h"
#include "egress/sockets.h"
#include "egress/socks5.h"
#include "policy/hosts.h"

namespace harn::egress {
namespace {

constexpr std::uint32_t both_ways = event_in | event_out | event_rdhup | event_edge;
constexpr std::uint32_t lost = event_err | event_hup;
constexpr std::chrono::seconds patience_with_proxy_clients{15};
constexpr std::size_t most_candidates = 16;

policy::IpBlock inner_loopback() { return *policy::parse_ipv4("127.0.0.1"); }

// "Basic " and the user with the password, coded as HTTP does.
bool knows_password(std::string_view said, const std::string& password) {
  if (password.empty()) return true;
  const auto space = said.find(' ');
  return space != std::string_view::npos && base::lower_ascii(said.substr(0, space)) == "basic" &&
         base::trim(said.substr(space)) == base::to_base64(fmt::format("{}:{}", proxy_user, password));
}

}  // namespace

Connection::Connection(RelayState& state, std::uint64_t id, sys::UniqueFd client, Kind kind)
    : state_(state), id_(id), kind_(kind), client_(std::move(client)), since_(state.loop.now()), active_(state.loop.now()) {}

Connection::~Connection() = default;

void Connection::begin(RelayState& state, sys::UniqueFd client, Kind kind, std::uint16_t port) {
  const auto id = state.next_id++;
  auto& made = *state.connections.emplace(id, std::make_unique<Connection>(state, id, std::move(client), kind)).first->second;
  made.start(port);
}

void Connection::begin_to(RelayState& state, sys::UniqueFd client, const Endpoint& wanted) {
  const auto id = state.next_id++;
  auto& made = *state.connections.emplace(id, std::make_unique<Connection>(state, id, std::move(client), Kind::direct)).first->second;
  if (made.watch_client()) made.go_to_address(wanted);
}

bool Connection::watch_client() {
  send_at_once(client_.get());
  if (state_.loop.watch(client_.get(), both_ways, [this](std::uint32_t events) { on_client(events); }, client_watch_)) return true;
  end(true);
  return false;
}

void Connection::start(std::uint16_t port) {
  if (!watch_client()) return;
  if (kind_ == Kind::published) return start_published(port);
  if (kind_ == Kind::direct) return start_direct();
  speech_ = Speech::unknown;
  listen_to_proxy_client();
}

void Connection::start_direct() {
  const auto wanted = destination_of(client_.get());
  if (!wanted) return end(true);
  go_to_address(*wanted);
}

void Connection::go_to_address(const Endpoint& wanted) {
  wants_v6_ = wanted.address.v6;
  go_to(state_.named(wanted), wanted.port);
}

// The program inside serves on its own loopback; nothing of the rules is about it.
void Connection::start_published(std::uint16_t port) {
  if (state_.inner.empty()) return end(true);
  upstream_ = std::move(state_.inner.back());
  state_.inner.pop_back();
  port_ = port;
  stage_ = Stage::dialling;
  const auto address = socket_address(inner_loopback(), port);
  if (::connect(upstream_.get(), address.get(), address.length) != 0 && errno != EINPROGRESS) return end(true);
  if (!state_.loop.watch(upstream_.get(), both_ways, [this](std::uint32_t events) { on_upstream(events); }, upstream_watch_)) end(true);
}

void Connection::on_client(std::uint32_t events) {
  if ((events & (event_in | event_rdhup | lost)) != 0) up_.readable = true;
  if ((events & (event_out | lost)) != 0) down_.writable = true;
  if (stage_ == Stage::open) return pump();
  if ((events & lost) != 0) return end(true);
  // Who has ended before saying a word waits for nothing; whoever said something may still want the answer.
  char first = 0;
  if (stage_ == Stage::waiting && (events & event_rdhup) != 0 && ::recv(client_.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
    return end(true);
  if (stage_ == Stage::asking) listen_to_proxy_client();
}

void Connection::on_upstream(std::uint32_t events) {
  if ((events & (event_in | event_rdhup | lost)) != 0) down_.readable = true;
  if ((events & (event_out | lost)) != 0) up_.writable = true;
  if (stage_ == Stage::open) return pump();
  if (stage_ != Stage::dialling) return;
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(upstream_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error == 0 && (events & event_out) != 0 && (events & event_err) == 0) return opened();
  if (error != 0 || (events & lost) != 0) dial_next();
}

void Connection::listen_to_proxy_client() {
  std::array<char, 4096> buffer = {};
  for (;;) {
    const auto got = ::recv(client_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (got <= 0) return end(true);
    heard_.append(buffer.data(), static_cast<std::size_t>(got));
    if (heard_.size() > most_head_bytes + buffer.size()) return end(true);
    if (speech_ == Speech::unknown) speech_ = static_cast<std::uint8_t>(heard_[0]) == socks_version ? Speech::socks_greeting : Speech::http;
    if (speech_ == Speech::http ? hear_http() : hear_socks()) return;
  }
}

// True when nothing more is to be heard.
bool Connection::hear_socks() {
  if (speech_ == Speech::socks_greeting) {
    const auto step = read_socks5_greeting(heard_, !state_.settings.password.empty());
    if (step.kind == Socks5Step::Kind::more) return false;
    say(step.reply);
    if (step.kind == Socks5Step::Kind::broken) {
      end(false);
      return true;
    }
    heard_.erase(0, step.used);
    speech_ = state_.settings.password.empty() ? Speech::socks_request : Speech::socks_password;
  }
  if (speech_ == Speech::socks_password) {
    const auto step = read_socks5_password(heard_);
    if (step.kind == Socks5Step::Kind::more) return false;
    const bool right = step.user == proxy_user && step.password == state_.settings.password;
    if (step.kind != Socks5Step::Kind::broken) say(print_socks5_password_reply(right));
    if (!right) {
      end(false);
      return true;
    }
    heard_.erase(0, step.used);
    speech_ = Speech::socks_request;
  }
  return obey(read_socks5_request(heard_));
}

bool Connection::hear_http() {
  const auto step = read_connect(heard_);
  if (step.kind == ConnectStep::Kind::request && !knows_password(step.authorization, state_.settings.password)) {
    say(print_who_are_you());
    end(false);
    return true;
  }
  return obey(step);
}

// What a proxy client asks for, in either language.
template <class Step>
bool Connection::obey(const Step& step) {
  if (step.kind == Step::Kind::more) return false;
  if (step.kind == Step::Kind::broken) {
    say(step.reply);
    end(false);
    return true;
  }
  heard_.erase(0, step.used);
  port_ = step.port;
  auto host = policy::parse_destination(step.host);
  if (!host) {
    state_.ledger.deny("connect", base::quoted(step.host), "it is not the name or address of one host", "");
    fail(Failure::refused);
    return true;
  }
  go_to(std::move(*host), step.port);
  return true;
}

// The one way to a host. An address we gave away is the name it was given for.
void Connection::go_to(policy::Destination destination, std::uint16_t port) {
  port_ = port;
  stage_ = Stage::resolving;
  since_ = state_.loop.now();
  if (destination.name.empty() && state_.names.is_ours(destination.address)) {
    const auto* name = state_.names.name_of(destination.address);
    if (name == nullptr) return refuse(destination, policy::Verdict::no_rule);
    destination = {.name = *name};
  }
  destination_ = std::move(destination);
  const bool named = !destination_.name.empty();
  const auto verdict = named ? state_.rules.decide_name(destination_.name, port) : state_.rules.decide_address(destination_.address, port);
  if (verdict == policy::Verdict::allowed) return admit();
  if (!state_.ask(id_, destination_, port, verdict)) return refuse(destination_, verdict);
  stage_ = Stage::waiting;
}

void Connection::answered(bool allowed) {
  if (stage_ != Stage::waiting) return;
  stage_ = Stage::resolving;
  since_ = state_.loop.now();
  if (allowed) admit();
  else refuse(destination_, policy::Verdict::no_rule);
}

// What the rules say now about where it goes, and about the address that was dialled for it.
policy::Verdict Connection::judged_again() const {
  const bool named = !destination_.name.empty();
  const auto verdict =
      named ? state_.rules.decide_name(destination_.name, port_) : state_.rules.decide_address(destination_.address, port_);
  if (verdict != policy::Verdict::allowed || !named || next_candidate_ == 0) return verdict;
  for (const auto& alias : aliases_)
    if (state_.rules.decide_name(alias, port_) == policy::Verdict::denied) return policy::Verdict::denied;
  return state_.rules.decide_resolved(candidates_[next_candidate_ - 1], port_);
}

void Connection::reconsider() {
  const bool decided = stage_ == Stage::resolving || stage_ == Stage::dialling || stage_ == Stage::open;
  if (kind_ == Kind::published || !decided) return;
  const auto verdict = judged_again();
  if (verdict == policy::Verdict::allowed) {
    const auto untried = candidates_.begin() + static_cast<std::ptrdiff_t>(next_candidate_);
    const auto closed = [&](const policy::IpBlock& address) {
      return !destination_.name.empty() && state_.rules.decide_resolved(address, port_) != policy::Verdict::allowed;
    };
    candidates_.erase(std::remove_if(untried, candidates_.end(), closed), candidates_.end());
    return;
  }
  state_.ledger.deny("connect", policy::text_of(HostRule{policy::text_of(destination_), port_}),
                     fmt::format("{}; the connection was open and is closed", policy::why(verdict)),
                     remedy_for(destination_, port_, verdict));
  end(true);
}

void Connection::admit() {
  if (destination_.name.empty()) {
    candidates_ = {destination_.address};
    return dial_next();
  }
  if (!state_.may_ask("connect", destination_.name)) return fail(Failure::refused);
  state_.names.addresses_of(destination_.name);  // asked for once; the next time it costs nothing
  state_.lookup.resolve(destination_.name, [&state = state_, id = id_](const Resolved& resolved) {
    if (auto* self = state.find(id)) self->take_addresses(resolved);
  });
}

// What a name resolves to is checked at every connection: the answer may have changed since the last one.
void Connection::take_addresses(const Resolved& resolved) {
  if (stage_ != Stage::resolving) return;
  for (const auto& alias : resolved.aliases)
    if (const auto verdict = state_.rules.decide_name(alias, port_); verdict == policy::Verdict::denied)
      return refuse({.name = alias}, verdict);
  aliases_ = resolved.aliases;
  std::vector<policy::IpBlock> others;  // of the other family than the program chose: tried last
  for (const auto& given : resolved.addresses) {
    const auto address = policy::fold_mapped(given);
    const auto verdict = state_.rules.decide_resolved(address, port_);
    if (verdict == policy::Verdict::allowed) (address.v6 == wants_v6_ ? candidates_ : others).push_back(address);
    else state_.deny({.address = address}, port_, verdict);
  }
  candidates_.insert(candidates_.end(), others.begin(), others.end());
  if (candidates_.empty()) return fail(resolved.addresses.empty() ? Failure::unreachable : Failure::refused);
  if (candidates_.size() > most_candidates) candidates_.resize(most_candidates);
  dial_next();
}

void Connection::refuse(const policy::Destination& destination, policy::Verdict verdict) {
  state_.deny(destination, port_, verdict);
  fail(Failure::refused);
}

void Connection::dial_next() {
  stage_ = Stage::dialling;
  since_ = state_.loop.now();
  while (next_candidate_ < candidates_.size())
    if (dial(candidates_[next_candidate_++])) return;
  if (kind_ != Kind::published) state_.ledger.failed(state_.ledger.contact(policy::text_of(destination_), port_));
  fail(Failure::unreachable);
}

bool Connection::dial(const policy::IpBlock& address) {
  upstream_watch_.stop();
  upstream_ = open_socket(address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM);
  if (!upstream_) return false;
  send_at_once(upstream_.get());
  const auto where = socket_address(address, port_);
  if (::connect(upstream_.get(), where.get(), where.length) != 0 && errno != EINPROGRESS) return false;
  return state_.loop.watch(upstream_.get(), both_ways, [this](std::uint32_t events) { on_upstream(events); }, upstream_watch_);
}

void Connection::opened() {
  stage_ = Stage::open;
  active_ = state_.loop.now();
  if (kind_ != Kind::published) {
    contact_ = &state_.ledger.contact(policy::text_of(destination_), port_);
    state_.ledger.opened(*contact_);
  }
  if (speech_ == Speech::http) down_.prepend(print_connect_reply(200, "Connection established"));
  if (speech_ == Speech::socks_request) down_.prepend(print_socks5_reply(Socks5Reply::granted));
  if (!heard_.empty()) up_.prepend(std::move(heard_));
  pump();
}

void Connection::pump() {
  if (stage_ != Stage::open) return;
  auto up = up_broken_ ? Stream::State::broken : up_.move(client_.get(), upstream_.get(), state_.pipes);
  const auto down = down_.move(upstream_.get(), client_.get(), state_.pipes);
  count();
  if (stage_ == Stage::ended) return;
  // The other side is gone, but what it said before may still be on its way.
  if (up == Stream::State::broken) up_broken_ = true;
  if (down == Stream::State::broken || (up_broken_ && down != Stream::State::busy && (down_.done() || down_.writable)))
    return end(/*reset=*/!down_.done());
  if (up == Stream::State::done && down == Stream::State::done) return end(false);
  if ((up != Stream::State::busy && down != Stream::State::busy) || pumping_soon_) return;
  pumping_soon_ = true;
  state_.loop.soon([&state = state_, id = id_] {
    if (auto* self = state.find(id)) {
      self->pumping_soon_ = false;
      self->pump();
    }
  });
}

void Connection::count() {
  const auto up = up_.moved() - counted_up_;
  const auto down = down_.moved() - counted_down_;
  if (up == 0 && down == 0) return;
  active_ = state_.loop.now();
  counted_up_ += up;
  counted_down_ += down;
  if (contact_ == nullptr) return;
  state_.ledger.moved(*contact_, up, down);
  const auto most = state_.settings.limits.bytes_per_host;
  if (most == 0 || state_.ledger.bytes_of(contact_->host) <= most) return;
  state_.ledger.deny("connect", contact_->host, fmt::format("more than {} bytes went to and from it", most), "");
  end(true);
}

void Connection::tick() {
  const auto now = state_.loop.now();
  const auto& limits = state_.settings.limits;
  if (stage_ == Stage::asking && now - since_ > patience_with_proxy_clients) return end(true);
  if (stage_ == Stage::dialling && now - since_ > std::chrono::seconds(limits.connect_seconds)) return dial_next();
  if (stage_ == Stage::open && now - active_ > std::chrono::seconds(limits.idle_seconds)) end(true);
}

void Connection::fail(Failure failure) {
  const bool refused = failure == Failure::refused;
  if (speech_ == Speech::socks_request) say(print_socks5_reply(refused ? Socks5Reply::not_allowed : Socks5Reply::host_unreachable));
  if (speech_ == Speech::http)
    say(refused ? print_connect_reply(403, "Forbidden", "harn: the sandbox does not open this host")
                : print_connect_reply(502, "Bad Gateway", "harn: the host could not be reached"));
  end(/*reset=*/speech_ == Speech::none);
}

// A few bytes into an empty socket; one that does not take them is no worse off.
void Connection::say(std::string_view bytes) { std::ignore = ::send(client_.get(), bytes.data(), bytes.size(), no_signal | MSG_DONTWAIT); }

void Connection::end(bool reset) {
  if (stage_ == Stage::ended) return;
  if (stage_ == Stage::waiting) state_.withdraw(id_);
  stage_ = Stage::ended;
  client_watch_.stop();
  upstream_watch_.stop();
  up_.release(state_.pipes);
  down_.release(state_.pipes);
  if (kind_ == Kind::published && upstream_) {
    sockaddr nobody = {};
    nobody.sa_family = AF_UNSPEC;  // lets it be used again
    if (::connect(upstream_.get(), &nobody, sizeof nobody) == 0) state_.inner.push_back(std::move(upstream_));
  }
  if (reset) {
    reset_connection(std::move(client_));
    if (upstream_) reset_connection(std::move(upstream_));
  }
  client_ = {};
  upstream_ = {};
  // Whoever called us may still be at work.
  state_.loop.soon([&state = state_, id = id_] { state.connections.erase(id); });
}

}  // namespace harn::egress
