// SPDX-License-Identifier: Apache-2.0
// A profile can open ports of this machine but no hosts. So a relay of ours listens on one, in a process of its own that
// speaks HTTP CONNECT and SOCKS5, and the profile opens that port and nothing else.
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include <fmt/format.h>

#include "egress/proxy.h"
#include "egress/socket_address.h"
#include "egress/sockets.h"
#include "plan/environment.h"
#include "plan/macos/seatbelt.h"
#include "sandbox/relay_settings.h"
#include "sandbox/unix/egress.h"
#include "sys/descriptors.h"
#include "sys/files.h"
#include "sys/random_number.h"

namespace harn::sandbox {
namespace {

constexpr int backlog = 128;
constexpr std::chrono::milliseconds report_time{2000};

Result<sys::UniqueFd> listen_here() {
  auto fd = egress::open_socket(AF_INET, SOCK_STREAM);
  const auto address = egress::socket_address(*policy::parse_ipv4("127.0.0.1"), 0);
  if (!fd || ::bind(fd.get(), address.get(), address.length) != 0 || ::listen(fd.get(), backlog) != 0)
    return fail(sys::os_failure("bind", "a port of 127.0.0.1 for the relay", errno, Stage::prepare));
  return fd;
}

// Where the plan itself speaks of the port; nothing that a person wrote is touched.
void fill_in_relay(Plan& plan, std::uint16_t port, const std::string& password) {
  plan.egress->relay_port = port;
  plan::fill_in_relay(fmt::format("{}:{}@", egress::proxy_user, password), port, plan.env);
  auto* wrapper = std::get_if<Wrapper>(&plan.confinement);
  if (wrapper == nullptr) return;
  const auto fill = [&](std::string& text) { text = plan::seatbelt_with_relay_port(std::move(text), port); };
  for (std::size_t i = 0; i + plan.argv.size() < wrapper->argv.size(); ++i) fill(wrapper->argv[i]);
  for (auto& file : wrapper->files) fill(file.text);
  fill(wrapper->profile);
}

// In a child: until the pipe of the launcher closes. Nobody outside may be reached by a signal meant for the command.
[[noreturn]] void serve(egress::RelaySettings settings, sys::UniqueFd listener, int lifeline, int report) {
  ::setsid();
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaction(number, &ignore, nullptr);
  std::string text;
  for (const auto& line : egress::serve_proxy(std::move(settings), std::move(listener), lifeline)) text += line + "\n";
  ::_exit(sys::write_all(report, text) == 0 ? 0 : 1);
}

}  // namespace

struct Egress::Parts {
  Plan plan = {};
  pid_t pid = -1;
  sys::UniqueFd lifeline = {};
  sys::UniqueFd report = {};

  void stop() {
    lifeline = {};
    if (pid < 0) return;
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid = -1;
  }
  ~Parts() { stop(); }
};

Egress::Egress(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Egress::Egress(Egress&&) noexcept = default;
Egress::~Egress() = default;

Result<Egress> Egress::start(const Plan& plan, const RunOptions& options) {
  auto parts = std::make_unique<Parts>();
  parts->plan = plan;
  if (!plan.egress) return Egress(std::move(parts));
  HARN_TRY(listener, listen_here());
  const auto here = egress::destination_of(listener.get());
  if (!here) return fail(sys::os_failure("getsockname", "the relay's port", errno, Stage::prepare));
  // Every user of this machine can connect; only the command knows this.
  const auto password = fmt::format("{:016x}{:016x}", sys::random_number(), sys::random_number());
  fill_in_relay(parts->plan, here->port, password);
  HARN_TRY(settings, relay_settings(*parts->plan.egress, options.nameservers));
  settings.password = password;
  HARN_TRY(lifeline, sys::open_pipe());
  HARN_TRY(report, sys::open_pipe());
  const pid_t pid = ::fork();
  if (pid == 0) {
    lifeline.write = {};
    report.read = {};
    serve(std::move(settings), std::move(listener), lifeline.read.get(), report.write.get());
  }
  if (pid < 0) return fail(sys::os_failure("fork", "the relay", errno, Stage::prepare));
  parts->pid = pid;
  parts->lifeline = std::move(lifeline.write);
  parts->report = std::move(report.read);
  return Egress(std::move(parts));
}

const Plan& Egress::plan() const { return parts_->plan; }

void Egress::report(Outcome& outcome) const {
  if (!parts_->report) return;
  parts_->lifeline = {};  // it tells, and ends
  std::string text;
  const auto until = std::chrono::steady_clock::now() + report_time;
  for (;;) {
    pollfd ready = {.fd = parts_->report.get(), .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) break;
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    char buffer[4096];
    const auto got = ::read(parts_->report.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  egress::NetworkReport report;
  bool complete = false;
  for (std::size_t at = 0, end = 0; !complete && (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string_view line(text.data() + at, end - at);
    complete = line == "end";
    if (!complete && !egress::read_report_line(line, report)) break;
  }
  add_report(std::move(report), complete, outcome);
}

}  // namespace harn::sandbox
