// SPDX-License-Identifier: Apache-2.0
// The relay against real sockets of this machine's loopback, on a thread of its own. What needs a network namespace
// is in tests/network.
#include "egress/relay.h"
#include "egress/sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "egress/channel.h"
#include "egress/http_connect.h"

namespace harn::egress {
namespace {

using sys::UniqueFd;

struct Bound {
  UniqueFd fd = {};
  std::uint16_t port = 0;
};

Bound bound(int type, bool v6 = false) {
  Bound out;
  out.fd = UniqueFd(::socket(v6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC, 0));
  const auto address = socket_address(v6 ? *policy::parse_ipv6("::") : *policy::parse_ipv4("127.0.0.1"), 0);
  const int off = 0;
  const int on = 1;
  if (v6) ::setsockopt(out.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (v6) ::setsockopt(out.fd.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
  EXPECT_EQ(::bind(out.fd.get(), address.get(), address.length), 0);
  if (type == SOCK_STREAM && ::listen(out.fd.get(), 64) != 0) ADD_FAILURE();
  out.port = destination_of(out.fd.get())->port;
  return out;
}

// Serves until it is destroyed: `act` gets each connection, or the datagram socket when one waits.
class Server {
 public:
  Server(int type, std::function<void(int)> act) : place_(bound(type)), thread_([this, type, act = std::move(act)] { run(type, act); }) {}
  ~Server() {
    over_ = true;
    thread_.join();
  }
  std::uint16_t port() const { return place_.port; }

 private:
  void run(int type, const std::function<void(int)>& act) {
    while (!over_) {
      pollfd ready = {.fd = place_.fd.get(), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 20) <= 0) continue;
      if (type == SOCK_DGRAM) {
        act(place_.fd.get());
        continue;
      }
      const UniqueFd client(::accept4(place_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
      act(client.get());
    }
  }
  Bound place_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

std::string read_some(int fd, std::size_t wanted = 1) {
  std::string out;
  std::array<char, 65536> buffer = {};
  timeval patience = {.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  while (out.size() < wanted) {
    const auto got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return out;
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto got = ::send(fd, bytes.data(), bytes.size(), no_signal);
    if (got <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(got));
  }
}

void echo(int client) {
  for (auto bytes = read_some(client); !bytes.empty(); bytes = read_some(client)) write_all(client, bytes);
}

// Every name ending in ".test" is 127.0.0.1, but "private.test" 10.0.0.1; nothing else exists.
void resolve(int socket) {
  std::array<std::uint8_t, 1500> buffer = {};
  sockaddr_storage peer = {};
  socklen_t length = sizeof peer;
  const auto got = ::recvfrom(socket, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&peer), &length);
  const auto read = parse_question({buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
  if (!read) return;
  const auto& name = read->question.name;
  const policy::IpBlock answer[] = {*policy::parse_ipv4(name == "private.test" ? "10.0.0.1" : "127.0.0.1")};
  const auto code = name.ends_with(".test") ? DnsCode::ok : DnsCode::no_such_name;
  const auto message = print_answer(
      read->question, code, code == DnsCode::ok ? std::span<const policy::IpBlock>(answer) : std::span<const policy::IpBlock>(), 60);
  ::sendto(socket, message.data(), message.size(), 0, reinterpret_cast<sockaddr*>(&peer), length);
}

UniqueFd dial(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = socket_address(*policy::parse_ipv4("127.0.0.1"), port);
  EXPECT_EQ(::connect(fd.get(), address.get(), address.length), 0);
  return fd;
}

class RelayOnLoopback : public testing::Test {
 protected:
  void start(std::vector<HostRule> allow, RelayLimits limits = {}, bool announced = false) {
    const auto v4 = *policy::parse_ipv4("127.0.0.1");
    RelaySettings settings{.rules = {.allow = std::move(allow), .deny = {{"denied.test", {}}}},
                           .proxy_port = proxy_.port,
                           .nameservers = {{v4, resolver_.port()}},
                           .hosts = {{"table.test", {v4}}},
                           .hostname = "me",
                           .limits = limits,
                           .announced = announced,
                           .secret = "secret"};
    settings.limits.lookup_ms = 600;
    told_ = settings;
    loop_.emplace(std::move(*EventLoop::make()));
    relay_ = std::move(*Relay::make(*loop_, std::move(settings)));
    add({.kind = sys::GateKind::listener, .port = proxy_.port}, proxy_);
    add({.kind = sys::GateKind::listener, .port = direct_.port}, direct_);
    add({.kind = sys::GateKind::dns_tcp, .port = 53}, dns_tcp_);
    add({.kind = sys::GateKind::dns, .port = 53}, dns_);
    if (announced) {
      int ends[2] = {-1, -1};
      ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
      announcements_ = UniqueFd(ends[0]);
      relay_->add_gate({.kind = sys::GateKind::announcements}, UniqueFd(ends[1]));
      add({.kind = sys::GateKind::announced}, led_);
    }
    add({.kind = sys::GateKind::published, .port = echo_.port()}, published_);
    for (int i = 0; i < 2; ++i)
      relay_->add_gate({.kind = sys::GateKind::inner}, UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
    listen_for_owner();
    stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
    ASSERT_TRUE(loop_->watch(stop_.get(), event_in, [this](std::uint32_t) { over_ = true; }, stop_watch_));
    thread_ = std::thread([this] {
      while (!over_) relay_->turn();
    });
  }
  NetworkReport stop() {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(stop_.get(), &one, sizeof one), 8);
    thread_.join();
    NetworkReport report;
    for (const auto& line : relay_->report()) {
      const bool read = line == "end" || read_report_line(line, report);
      EXPECT_TRUE(read) << line;
    }
    return report;
  }
  void TearDown() override {
    if (thread_.joinable()) std::ignore = stop();
  }
  static void add_to(Relay& relay, const sys::GateNote& note, const Bound& place) {
    const int flags = ::fcntl(place.fd.get(), F_GETFL);
    ::fcntl(place.fd.get(), F_SETFL, flags | O_NONBLOCK);
    relay.add_gate(note, UniqueFd(::fcntl(place.fd.get(), F_DUPFD_CLOEXEC, 3)));
  }
  void add(const sys::GateNote& note, const Bound& place) { add_to(*relay_, note, place); }

  UniqueFd tunnel(const std::string& host, std::uint16_t port, std::string_view expected = "200") {
    auto fd = dial(proxy_.port);
    write_all(fd.get(), "CONNECT " + host + ":" + std::to_string(port) + " HTTP/1.1\r\n\r\n");
    const auto answer = read_some(fd.get(), 39);
    EXPECT_EQ(answer.substr(9, 3), expected) << host;
    return fd;
  }
  std::optional<DnsReply> ask(const std::string& name, std::uint16_t type = type_a) {
    const UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto address = socket_address(*policy::parse_ipv4("127.0.0.1"), dns_.port);
    const auto question = print_question(9, name, type);
    ::connect(fd.get(), address.get(), address.length);
    ::send(fd.get(), question.data(), question.size(), 0);
    const auto answer = read_some(fd.get());
    return parse_reply({reinterpret_cast<const std::uint8_t*>(answer.data()), answer.size()}, 9, name, type);
  }

  // As a supervisor says it of a socket of the command.
  void announce(const UniqueFd& client, const char* address, std::uint16_t port,
                sys::AnnouncedKind kind = sys::AnnouncedKind::stream) const {
    sys::Announcement said{.kind = kind, .from = destination_of(client.get())->port, .port = port};
    const auto wanted = in6_of(*policy::parse_ipv4(address));
    std::copy(std::begin(wanted.s6_addr), std::end(wanted.s6_addr), said.address);
    EXPECT_EQ(::send(announcements_.get(), &said, sizeof said, 0), static_cast<ssize_t>(sizeof said));
  }

  Server echo_{SOCK_STREAM, echo};
  Server resolver_{SOCK_DGRAM, resolve};
  // At a name the kernel chooses.
  void listen_for_owner() {
    owner_.sun_family = AF_UNIX;
    UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&owner_), sizeof(sa_family_t)), 0);
    owner_length_ = sizeof owner_;
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&owner_), &owner_length_);
    ASSERT_EQ(::listen(fd.get(), 8), 0);
    relay_->add_gate({.kind = sys::GateKind::control}, std::move(fd));
  }
  UniqueFd owner(std::string_view secret = "secret") const {
    UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&owner_), owner_length_), 0);
    EXPECT_TRUE(send_message(fd.get(), secret));
    return fd;
  }
  std::string name_hosts(const UniqueFd& link, std::vector<HostRule> allow) {
    told_.rules.allow = std::move(allow);
    const UniqueFd file(::memfd_create("settings", MFD_CLOEXEC));
    const auto text = print_settings(told_);
    EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    EXPECT_TRUE(send_message(link.get(), "rules", file.get()));
    return read_some(link.get());
  }

  RelaySettings told_ = {};
  sockaddr_un owner_ = {};
  socklen_t owner_length_ = 0;
  Bound proxy_ = bound(SOCK_STREAM);
  Bound direct_ = bound(SOCK_STREAM);
  Bound dns_tcp_ = bound(SOCK_STREAM);
  Bound dns_ = bound(SOCK_DGRAM, /*v6=*/true);
  Bound published_ = bound(SOCK_STREAM);
  Bound led_ = bound(SOCK_STREAM);
  UniqueFd announcements_ = {};
  std::optional<EventLoop> loop_ = {};
  std::unique_ptr<Relay> relay_ = {};
  UniqueFd stop_ = {};
  EventLoop::Watch stop_watch_ = {};
  std::atomic<bool> over_ = false;
  std::thread thread_ = {};
};

std::vector<HostRule> usual(std::uint16_t port) {
  return {{"good.test", port},  {"*.wild.test", {}},  {"private.test", {}}, {"127.0.0.1", port},
          {"table.test", port}, {"gone.example", {}}, {"denied.test", {}}};
}

TEST_F(RelayOnLoopback, CarriesBytesBothWaysAndCountsThem) {
  start(usual(echo_.port()));
  const auto fd = tunnel("good.test", echo_.port());
  std::string sent;
  for (int i = 0; i < 300; ++i) sent += std::string(10007, static_cast<char>(i));
  std::thread writer([&] {
    write_all(fd.get(), sent);
    ::shutdown(fd.get(), SHUT_WR);
  });
  const auto got = read_some(fd.get(), sent.size());
  writer.join();
  EXPECT_TRUE(got == sent);
  EXPECT_EQ(read_some(fd.get()), "");
  const auto report = stop();
  ASSERT_EQ(report.contacts.size(), 1u);
  EXPECT_EQ(report.contacts[0].host, "good.test");
  EXPECT_EQ(report.contacts[0].sent_bytes, sent.size());
  EXPECT_TRUE(report.denials.empty());
}

TEST_F(RelayOnLoopback, RefusesInTheLanguageOfTheClient) {
  start(usual(echo_.port()));
  for (const auto* host : {"evil.test", "127.0.0.2", "denied.test", "private.test", "10.0.0.1", "0x7f.1", "a%62.test"})
    tunnel(host, echo_.port(), "403");
  tunnel("good.test", 1, "403");
  tunnel("gone.example", echo_.port(), "502");
  tunnel("x.wild.test", 1, "403");  // admitted, but where it leads at this port no rule does
  auto socks = dial(proxy_.port);
  write_all(socks.get(), std::string("\x05\x01\x00", 3));
  EXPECT_EQ(read_some(socks.get()), std::string("\x05\x00", 2));
  write_all(socks.get(), std::string("\x05\x01\x00\x03\x09", 5) + "evil.test" + std::string("\x00\x50", 2));
  EXPECT_EQ(read_some(socks.get())[1], 2);
  auto wrong = dial(proxy_.port);
  write_all(wrong.get(), "GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(read_some(wrong.get()).starts_with("HTTP/1.1 405"));
  const auto direct = dial(direct_.port);
  EXPECT_EQ(read_some(direct.get()), "");  // reset
  const auto report = stop();
  EXPECT_GE(report.denials.size(), 9u);
  for (const auto& denial : report.denials) {
    const bool named = denial.target.starts_with("evil.test");
    const bool loopback = denial.target.starts_with("127.");
    EXPECT_TRUE(!named || denial.remedy.starts_with("--allow-host evil.test")) << denial.remedy;
    EXPECT_TRUE(!loopback || denial.remedy.starts_with("--host-port ")) << denial.target;
  }
}

TEST_F(RelayOnLoopback, SpeaksSocksToAllowedHosts) {
  start(usual(echo_.port()));
  auto socks = dial(proxy_.port);
  const std::string port = {static_cast<char>(echo_.port() >> 8), static_cast<char>(echo_.port() & 0xff)};
  write_all(socks.get(), std::string("\x05\x01\x00", 3) + std::string("\x05\x01\x00\x03\x0a", 5) + "table.test" + port + "early");
  EXPECT_EQ(read_some(socks.get(), 17), std::string("\x05\x00", 2) + std::string("\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", 10) + "early");
}

TEST_F(RelayOnLoopback, AnswersNamesWithAddressesOfItsOwn) {
  start(usual(echo_.port()), {.name_bytes = 8});
  const auto good = ask("good.test");
  ASSERT_TRUE(good && good->addresses.size() == 1);
  EXPECT_EQ(policy::print_ip(good->addresses[0]), "198.18.1.0");
  EXPECT_EQ(ask("evil.test")->code, DnsCode::no_such_name);
  EXPECT_EQ(ask("gone.example")->code, DnsCode::no_such_name);
  EXPECT_EQ(ask("denied.test")->code, DnsCode::no_such_name);
  EXPECT_EQ(ask("short.wild.test")->addresses.size(), 1u);
  EXPECT_EQ(ask("muchtoolong.wild.test")->code, DnsCode::refused);
  EXPECT_EQ(policy::print_ip(ask("localhost")->addresses.at(0)), "127.0.0.1");
  EXPECT_EQ(policy::print_ip(ask("me", type_aaaa)->addresses.at(0)), "::1");
  EXPECT_TRUE(ask("good.test", type_aaaa)->addresses.empty());
  const auto stream = dial(dns_tcp_.port);
  const auto question = print_question(9, "good.test", type_a);
  write_all(stream.get(), std::string{'\0', static_cast<char>(question.size())} + std::string(question.begin(), question.end()));
  const auto answer = read_some(stream.get(), 10).substr(2);
  EXPECT_EQ(parse_reply({reinterpret_cast<const std::uint8_t*>(answer.data()), answer.size()}, 9, "good.test", type_a)->addresses,
            good->addresses);
}

// Names told to a proxy are looked up outside like those asked of the resolver, so they carry no more either.
TEST_F(RelayOnLoopback, NamesToldToAProxyHaveTheSameBudget) {
  start(usual(echo_.port()), {.name_bytes = 8, .free_name_bytes = 10});
  tunnel("muchtoolong.wild.test", echo_.port(), "403");
  tunnel("sixsix.wild.test", echo_.port());
  tunnel("sixsix.wild.test", echo_.port());
  tunnel("fivee.wild.test", echo_.port(), "403");
  EXPECT_EQ(ask("fivee.wild.test")->code, DnsCode::refused);
  std::size_t spent = 0;
  for (const auto& denial : stop().denials) spent += denial.rule.find("only so many bytes") != std::string::npos ? 1u : 0u;
  EXPECT_EQ(spent, 3u);
}

TEST_F(RelayOnLoopback, PublishedSocketsAreUsedAgain) {
  start(usual(echo_.port()));
  for (int i = 0; i < 6; ++i) {
    const auto fd = dial(published_.port);
    write_all(fd.get(), "hello");
    EXPECT_EQ(read_some(fd.get(), 5), "hello") << i;
    ::shutdown(fd.get(), SHUT_WR);
    EXPECT_EQ(read_some(fd.get()), "");
  }
}

TEST_F(RelayOnLoopback, WhoeverWasAnnouncedGoesWhereItWantedAndNobodyElseAnywhere) {
  start(usual(echo_.port()), {}, /*announced=*/true);
  const auto stranger = dial(led_.port);
  write_all(stranger.get(), "let me in");
  auto first = dial(led_.port);
  announce(first, "127.0.0.1", echo_.port());
  write_all(first.get(), "hello");
  EXPECT_EQ(read_some(first.get(), 5), "hello");
  first = {};  // the echo serves one at a time
  std::array<char, 8> unheard = {};
  EXPECT_LE(::recv(stranger.get(), unheard.data(), unheard.size(), MSG_DONTWAIT), 0);
  const auto refused = dial(led_.port);
  announce(refused, "127.0.0.2", echo_.port());
  EXPECT_EQ(read_some(refused.get()), "");  // reset
  const auto proxied = dial(led_.port);
  announce(proxied, "127.0.0.1", proxy_.port);
  write_all(proxied.get(), "CONNECT evil.test:1 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(read_some(proxied.get(), 39).substr(9, 3), "403");
  // Asked and answered by name, then reached by the address that was given for it.
  UniqueFd asker(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto resolver = socket_address(*policy::parse_ipv4("127.0.0.1"), dns_.port);
  ASSERT_EQ(::connect(asker.get(), resolver.get(), resolver.length), 0);
  const auto question = print_question(9, "good.test", type_a);
  ::send(asker.get(), question.data(), question.size(), 0);  // too early: nobody knows it
  announce(asker, "9.9.9.9", 53, sys::AnnouncedKind::resolver);
  announce(asker, "9.9.9.9", 443, sys::AnnouncedKind::refused);
  // Announcements are heard in their order: once a later one has had its effect, so have these.
  auto after = dial(led_.port);
  announce(after, "127.0.0.1", echo_.port());
  write_all(after.get(), "x");
  EXPECT_EQ(read_some(after.get(), 1), "x");
  after = {};
  ::send(asker.get(), question.data(), question.size(), 0);
  const auto answer = read_some(asker.get());
  const auto reply = parse_reply({reinterpret_cast<const std::uint8_t*>(answer.data()), answer.size()}, 9, "good.test", type_a);
  ASSERT_TRUE(reply && reply->addresses.size() == 1);
  const auto named = dial(led_.port);
  announce(named, policy::print_ip(reply->addresses[0]).c_str(), echo_.port());
  write_all(named.get(), "by name");
  EXPECT_EQ(read_some(named.get(), 7), "by name");
  bool told = false;
  for (const auto& denial : stop().denials) told = told || (denial.call == "udp" && denial.target == "9.9.9.9:443");
  EXPECT_TRUE(told);
}

TEST_F(RelayOnLoopback, KeepsItsLimits) {
  start(usual(echo_.port()), {.connections = 1, .idle_seconds = 1, .bytes_per_host = 1000});
  const auto first = tunnel("good.test", echo_.port());
  const auto second = dial(proxy_.port);
  EXPECT_EQ(read_some(second.get()), "");  // one too many
  EXPECT_EQ(read_some(first.get()), "");   // says nothing for too long
  const auto third = tunnel("good.test", echo_.port());
  write_all(third.get(), std::string(800, 'x'));
  EXPECT_LT(read_some(third.get(), 2000).size(), 2000u);
  EXPECT_EQ(stop().denials.size(), 2u);
}

TEST(Channel, CarriesGatesAndItsEnd) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  std::vector<ReceivedGate> gates;
  gates.push_back({.note = {.kind = sys::GateKind::inner, .port = 7}, .socket = UniqueFd(::socket(AF_INET, SOCK_STREAM, 0))});
  ASSERT_TRUE(send_gates(ours.get(), gates));
  const auto got = receive_gates(theirs.get());
  ASSERT_TRUE(got && got->gates.size() == 1);
  EXPECT_EQ(got->gates[0].note.port, 7);
  EXPECT_TRUE(receive_gates(theirs.get())->gates.empty());
  ASSERT_TRUE(send_line(ours.get(), "nonsense"));
  EXPECT_FALSE(receive_gates(theirs.get()));
  ours = {};
  EXPECT_TRUE(receive_gates(theirs.get())->ended);
}

TEST(RefusedPackets, TargetsAreReadFromTheHeader) {
  Bytes packet(24, 0);
  packet[0] = 0x45;
  packet[16] = 8, packet[17] = 8, packet[18] = 4, packet[19] = 4;
  packet[22] = 1, packet[23] = 187;
  const auto target = read_ipv4_target(packet);
  ASSERT_TRUE(target);
  EXPECT_EQ(policy::print_ip(target->address), "8.8.4.4");
  EXPECT_EQ(target->port, 443);
  EXPECT_FALSE(read_ipv4_target(ByteView(packet).first(23)));
  packet[0] = 0x44;
  EXPECT_FALSE(read_ipv4_target(packet));
}

TEST_F(RelayOnLoopback, ItsOwnerNamesOtherHostsWhileConnectionsAreOpen) {
  start({{"good.test", echo_.port()}, {"127.0.0.1", echo_.port()}});
  const auto link = owner();
  const auto good = tunnel("good.test", echo_.port());
  write_all(good.get(), "one");
  EXPECT_EQ(read_some(good.get(), 3), "one");
  const auto watching = owner();
  EXPECT_TRUE(send_message(watching.get(), "watch"));
  EXPECT_EQ(read_some(watching.get()), "watching");
  EXPECT_EQ(name_hosts(link, {{"good.test", echo_.port()}, {"127.0.0.1", echo_.port()}, {"more.test", {}}}), "done");
  write_all(good.get(), "two");
  EXPECT_EQ(read_some(good.get(), 3), "two") << "what stays admitted goes on";
  EXPECT_EQ(name_hosts(link, {{"table.test", echo_.port()}, {"127.0.0.1", echo_.port()}}), "done");
  EXPECT_EQ(read_some(good.get()), "") << "what is not admitted any more is closed";
  tunnel("good.test", echo_.port(), "403");
  EXPECT_EQ(ask("good.test")->code, DnsCode::no_such_name);
  tunnel("table.test", echo_.port());
  ::shutdown(watching.get(), SHUT_WR);
  NetworkReport seen;
  for (auto line = read_some(watching.get()); line != "end" && !line.empty(); line = read_some(watching.get()))
    EXPECT_TRUE(read_report_line(line, seen)) << line;
  ASSERT_EQ(seen.contacts.size(), 2u) << "only what happened while somebody looked on";
  EXPECT_EQ(seen.contacts[0].received_bytes, 3u);
  EXPECT_EQ(seen.contacts[0].connections, 0u);
  EXPECT_EQ(seen.contacts[1].connections, 1u);
  ASSERT_GE(seen.denials.size(), 1u);
  EXPECT_TRUE(seen.denials[0].target.starts_with("good.test")) << seen.denials[0].target;
}

TEST_F(RelayOnLoopback, AnAddressThatIsNotAdmittedAnyMoreClosesItsNames) {
  start({{"good.test", echo_.port()}, {"127.0.0.1", echo_.port()}});
  const auto link = owner();
  const auto good = tunnel("good.test", echo_.port());
  EXPECT_EQ(name_hosts(link, {{"good.test", echo_.port()}}), "done");
  EXPECT_EQ(read_some(good.get()), "");
}

TEST_F(RelayOnLoopback, StrangersAndMistakesChangeNothing) {
  start({{"good.test", echo_.port()}, {"127.0.0.1", echo_.port()}});
  const auto stranger = owner("secres");
  EXPECT_FALSE(send_message(stranger.get(), "end") && !read_some(stranger.get()).empty());
  const auto babbling = owner();
  EXPECT_TRUE(send_message(babbling.get(), "nonsense"));
  EXPECT_EQ(read_some(babbling.get()), "");
  const auto link = owner();
  EXPECT_TRUE(name_hosts(link, {{"not a host", {}}}).starts_with("wrong\t"));
  EXPECT_TRUE(send_message(link.get(), "served"));
  EXPECT_EQ(read_some(link.get()), "served\t" + std::to_string(proxy_.port) + "\t" + std::to_string(direct_.port) + "\t53");
  tunnel("good.test", echo_.port());
}

}  // namespace
}  // namespace harn::egress
