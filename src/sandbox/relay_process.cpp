// SPDX-License-Identifier: Apache-2.0
#include "sandbox/relay_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include <fmt/format.h>

#include "egress/channel.h"
#include "egress/relay_image.h"
#include "egress/settings.h"
#include "egress/socket_address.h"
#include "plan/linux/relay_confinement.h"
#include "sandbox/relay_settings.h"
#include "sys/files.h"

namespace harn::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int first_free_fd = 10;
constexpr std::chrono::milliseconds report_time{2000};
constexpr std::uint64_t descriptors = 65536;
constexpr int published_backlog = 128;
constexpr int relay_backlog = 4096;
constexpr std::array<std::uint8_t, 16> mapped_loopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};

Result<sys::UniqueFd> text_file(const std::string& text) {
  sys::UniqueFd fd(::memfd_create("harn-relay-settings", MFD_CLOEXEC));
  if (!fd) return fail(sys::os_failure("memfd_create", "the relay's settings", errno, Stage::prepare));
  if (const int error = sys::write_all(fd.get(), text); error != 0)
    return fail(sys::os_failure("write", "the relay's settings", error, Stage::prepare));
  return fd;
}

Result<std::vector<egress::ReceivedGate>> published(const EgressPlan& plan) {
  std::vector<egress::ReceivedGate> gates;
  for (const auto port : plan.publish) {
    sys::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    const auto address = egress::socket_address(*policy::parse_ipv4("127.0.0.1"), port);
    if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(fd.get(), address.get(), address.length) != 0 || ::listen(fd.get(), published_backlog) != 0) {
      auto error = sys::os_failure("bind", fmt::format("port {} of 127.0.0.1", port), errno, Stage::prepare);
      error.hint = "the port may be in use already; publish another one";
      return fail(std::move(error));
    }
    gates.push_back({.note = {.kind = sys::GateKind::published, .port = port}, .socket = std::move(fd)});
  }
  return gates;
}

struct Pair {
  sys::UniqueFd ours = {};  // away from the numbers the command's descriptors get
  sys::UniqueFd theirs = {};
};
Result<Pair> make_pair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(sys::os_failure("socketpair", "for the relay", errno, Stage::prepare));
  const sys::UniqueFd ours(ends[0]);
  sys::UniqueFd theirs(ends[1]);
  sys::UniqueFd moved(::fcntl(ours.get(), F_DUPFD_CLOEXEC, first_free_fd));
  if (!moved) return fail(sys::os_failure("fcntl", "F_DUPFD_CLOEXEC", errno, Stage::prepare));
  return Pair{std::move(moved), std::move(theirs)};
}

// On a port the kernel chooses. The resolver's socket is one that knows which address it was asked at.
Result<sys::UniqueFd> on_loopback(int type, std::uint16_t& port) {
  const bool resolver = type == SOCK_DGRAM;
  sys::UniqueFd fd(::socket(resolver ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  const int off = 0;
  auto v4 = *policy::parse_ipv4("127.0.0.1");
  auto address = egress::socket_address(v4, 0);
  if (resolver) address = egress::socket_address({.v6 = true, .bits = mapped_loopback, .length = 128}, 0);
  const bool ready = fd && (!resolver || (::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
                                          ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on) == 0));
  if (!ready || ::bind(fd.get(), address.get(), address.length) != 0 || (!resolver && ::listen(fd.get(), relay_backlog) != 0))
    return fail(sys::os_failure("bind", "a port of 127.0.0.1 for the relay", errno, Stage::prepare));
  const auto bound = egress::destination_of(fd.get());
  port = bound ? bound->port : 0;
  return fd;
}

Result<run::Process> start_program(const Plan& plan, int channel, int settings, bool whole_process) {
  HARN_TRY(program, egress::open_relay_program());
  sys::UniqueFd nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nothing) return fail(sys::os_failure("open", "/dev/null", errno, Stage::prepare));
  Plan relay{.backend = Backend::linux, .argv = {"harn-relay"}, .cwd = AbsPath::of("/")};
  relay.limits.rlimits = {{.name = "nofile", .soft = descriptors, .hard = descriptors}, {.name = "core", .soft = 0, .hard = 0}};
  relay.confinement = plan::relay_confinement(std::get<LinuxConfinement>(plan.confinement));
  HARN_TRY(
      prepared,
      run::prepare(relay, {.stdio = {channel, settings, nothing.get()}, .die_with_thread = whole_process, .program_fd = program.get()}));
  return run::spawn(std::move(prepared));
}

}  // namespace

Status RelayProcess::open_on_loopback(std::vector<egress::ReceivedGate>& gates) {
  HARN_TRY(streams, on_loopback(SOCK_STREAM, stream_port_));
  HARN_TRY(resolver, on_loopback(SOCK_DGRAM, resolver_port_));
  HARN_TRY(pair, make_pair());
  announcements_ = std::move(pair.ours);
  gates.push_back({.note = {.kind = sys::GateKind::announced}, .socket = std::move(streams)});
  gates.push_back({.note = {.kind = sys::GateKind::dns}, .socket = std::move(resolver)});
  gates.push_back({.note = {.kind = sys::GateKind::announcements}, .socket = std::move(pair.theirs)});
  return {};
}

Result<RelayProcess> RelayProcess::start(const Plan& plan, const RunOptions& options) {
  RelayProcess out;
  if (!plan.egress) return out;
  HARN_TRY(settings, relay_settings(*plan.egress, options));
  HARN_TRY(text, text_file(egress::print_settings(settings)));
  HARN_TRY(gates, published(*plan.egress));
  if (plan.egress->supervised) HARN_OK(out.open_on_loopback(gates));
  HARN_TRY(channel, make_pair());
  out.channel_ = std::move(channel.ours);
  const auto theirs = std::move(channel.theirs);
  HARN_OK(egress::send_gates(out.channel_.get(), gates));
  HARN_TRY(process, start_program(plan, theirs.get(), text.get(), options.whole_process));
  out.process_.emplace(std::move(process));
  return out;
}

run::Attended RelayProcess::attended(const HostQuestionSink& sink) const {
  if (!channel_ || !sink) return {};
  return {.fd = channel_.get(), .attend = [channel = channel_.get(), &sink] {
            std::array<char, 4096> buffer = {};
            const auto got = ::recv(channel, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (got < 0) return errno == EAGAIN || errno == EINTR;
            if (got == 0) return false;
            const auto asked = egress::read_question_line({buffer.data(), static_cast<std::size_t>(got)});
            if (!asked) return true;
            sink(*asked, [channel, id = asked->question](bool allowed) {
              std::ignore = egress::send_verdict(channel, {.question = id, .allowed = allowed ? 1u : 0u});
            });
            return true;
          }};
}

void RelayProcess::end() {
  if (!process_) return;
  ::shutdown(channel_.get(), SHUT_WR);
  const auto deadline = Clock::now() + report_time;
  std::array<char, 4096> buffer = {};
  while (!complete_) {
    pollfd ready = {.fd = channel_.get(), .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) break;
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    const auto got = ::recv(channel_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const std::string_view line(buffer.data(), static_cast<std::size_t>(got));
    if (egress::read_question_line(line)) continue;  // too late for an answer
    complete_ = line == "end";
    if (!complete_ && !egress::read_report_line(line, seen_)) break;
  }
  process_.reset();  // ended by now, or ended here
}

void RelayProcess::report(Outcome& outcome) {
  if (!channel_) return;
  end();
  add_report(std::move(seen_), complete_, outcome);
  channel_ = {};
}

}  // namespace harn::sandbox
