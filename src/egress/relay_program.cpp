// SPDX-License-Identifier: Apache-2.0
// The relay as a program of its own, carried inside the library: what parses a confined program's bytes
// shares no memory with what launched it, can open no file, and ends with the run.
// Descriptors: 0 the channel to the launcher, 1 its settings. That of a session stays when its launcher has ended.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "egress/channel.h"
#include "egress/relay.h"

namespace {

using namespace harn;

constexpr int channel_fd = 0;
constexpr int settings_fd = 1;
constexpr int failed_exit = 125;

int serve() {
  auto settings = egress::parse_settings(egress::read_from_start(settings_fd));
  auto loop = egress::EventLoop::make();
  if (!settings || !loop) return failed_exit;
  const bool stays = settings->stays;
  auto relay = egress::Relay::make(*loop, std::move(*settings));
  if (!relay) return failed_exit;
  (*relay)->ask_by([](std::string_view line) { return egress::send_line_now(channel_fd, line); });
  bool ended = false;
  egress::EventLoop::Watch watch;
  const auto hear = [&](std::uint32_t) {
    auto received = egress::receive_gates(channel_fd);
    if (!received || received->ended) {
      // Everything it needs has come by then; who it serves is known by another descriptor.
      if (stays && received && (*relay)->knows_whom_it_serves()) watch.stop();
      else ended = true;
      return;
    }
    if (received->verdict) (*relay)->answer(received->verdict->question, received->verdict->allowed != 0);
    for (auto& gate : received->gates) (*relay)->add_gate(gate.note, std::move(gate.socket));
  };
  if (!loop->watch(channel_fd, egress::event_in | egress::event_rdhup, hear, watch)) return failed_exit;
  while (!ended && !(*relay)->ended()) (*relay)->turn();
  if (stays) return 0;
  for (const auto& line : (*relay)->report())
    if (!egress::send_line(channel_fd, line)) return failed_exit;
  return 0;
}

}  // namespace

int main() {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);  // splice knows no flag against it
  // Everything still open ends with the process; there is nothing to tidy up.
  ::_exit(serve());
}
