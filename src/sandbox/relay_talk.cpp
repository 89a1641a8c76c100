// SPDX-License-Identifier: Apache-2.0
#include "sandbox/relay_talk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>

#include <fmt/format.h>

#include "egress/relay_image.h"
#include "egress/socket_address.h"
#include "plan/linux/relay_confinement.h"
#include "sys/files.h"

namespace harn::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int first_free_fd = 10;
constexpr std::chrono::milliseconds answer_time{2000};
constexpr std::uint64_t descriptors = 65536;
constexpr int published_backlog = 128;

// Nothing when it did not come in time, or nobody is there any more.
std::optional<std::string> next_line(int channel, Clock::time_point deadline) {
  for (;;) {
    pollfd ready = {.fd = channel, .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    std::array<char, 4096> buffer = {};
    const auto got = ::recv(channel, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    return std::string(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<ChannelPair> make_channel() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(sys::os_failure("socketpair", "for the relay", errno, Stage::prepare));
  const sys::UniqueFd ours(ends[0]);
  sys::UniqueFd theirs(ends[1]);
  sys::UniqueFd moved(::fcntl(ours.get(), F_DUPFD_CLOEXEC, first_free_fd));
  if (!moved) return fail(sys::os_failure("fcntl", "F_DUPFD_CLOEXEC", errno, Stage::prepare));
  return ChannelPair{std::move(moved), std::move(theirs)};
}

Result<sys::UniqueFd> settings_file(const egress::RelaySettings& settings) {
  sys::UniqueFd fd(::memfd_create("harn-relay-settings", MFD_CLOEXEC));
  if (!fd) return fail(sys::os_failure("memfd_create", "the relay's settings", errno, Stage::prepare));
  if (const int error = sys::write_all(fd.get(), egress::print_settings(settings)); error != 0)
    return fail(sys::os_failure("write", "the relay's settings", error, Stage::prepare));
  return fd;
}

Result<std::vector<egress::ReceivedGate>> published_gates(const EgressPlan& plan) {
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

Result<PreparedRelay> prepare_relay(const RelayStart& start) {
  HARN_TRY(program, egress::open_relay_program());
  sys::UniqueFd nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nothing) return fail(sys::os_failure("open", "/dev/null", errno, Stage::prepare));
  Plan relay{.backend = Backend::linux, .argv = {"harn-relay"}, .cwd = AbsPath::of("/")};
  relay.limits.rlimits = {{.name = "nofile", .soft = descriptors, .hard = descriptors}, {.name = "core", .soft = 0, .hard = 0}};
  relay.confinement = plan::relay_confinement(start.sandbox);
  HARN_TRY(prepared, run::prepare(relay, {.stdio = {start.channel, start.settings, nothing.get()},
                                          .die_with_thread = start.die_with_thread,
                                          .program_fd = program.get()}));
  return PreparedRelay{.program = std::move(program), .nothing = std::move(nothing), .child = std::move(prepared)};
}

bool read_report(int channel, egress::NetworkReport& report) {
  const auto deadline = Clock::now() + answer_time;
  while (const auto line = next_line(channel, deadline)) {
    if (egress::read_question_line(*line)) continue;  // too late for an answer
    if (*line == "end") return true;
    if (!egress::read_report_line(*line, report)) return false;
  }
  return false;
}

std::string read_answer(int channel) { return next_line(channel, Clock::now() + answer_time).value_or(std::string()); }

}  // namespace harn::sandbox
