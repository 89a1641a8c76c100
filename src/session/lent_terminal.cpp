// SPDX-License-Identifier: Apache-2.0
#include "session/lent_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <tuple>

#include "sys/files.h"

namespace harn::session {
namespace {

constexpr int look_at_size_ms = 100;

bool same_size(const winsize& a, const winsize& b) {
  return a.ws_row == b.ws_row && a.ws_col == b.ws_col && a.ws_xpixel == b.ws_xpixel && a.ws_ypixel == b.ws_ypixel;
}

// False at the end of what can be read.
bool pass_on(int from, int to) {
  std::array<char, 16384> buffer;
  const auto got = ::read(from, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  return got > 0 && sys::write_all(to, {buffer.data(), static_cast<std::size_t>(got)}) == 0;
}

void relay(int ours, int master, int ending) {
  winsize size = {};
  bool typing = true;
  bool over = false;
  for (;;) {
    winsize now = {};
    if (::ioctl(ours, TIOCGWINSZ, &now) == 0 && !same_size(now, size)) {
      size = now;
      ::ioctl(master, TIOCSWINSZ, &size);
    }
    pollfd ready[3] = {{.fd = typing ? ours : -1, .events = POLLIN, .revents = 0},
                       {.fd = master, .events = POLLIN, .revents = 0},
                       {.fd = over ? -1 : ending, .events = POLLIN, .revents = 0}};
    const int count = ::poll(ready, 3, over ? 0 : look_at_size_ms);
    // After the end only what is written already is passed on.
    if (over && count <= 0) return;
    over = over || ready[2].revents != 0;
    if (ready[1].revents != 0 && !pass_on(master, ours)) return;
    if (ready[0].revents != 0) typing = pass_on(ours, master);
  }
}

}  // namespace

Result<LentTerminal> LentTerminal::open() {
  const auto failed = [](std::string_view call) {
    return fail(sys::os_failure(call, "a terminal for the command", errno, Stage::prepare));
  };
  LentTerminal out;
  if (::tcgetattr(STDIN_FILENO, &out.before_) != 0)
    return fail(Error{.code = ErrorCode::invalid_command,
                      .stage = Stage::cli,
                      .message = "-t needs a terminal, and standard input is none",
                      .hint = "leave -t out"});
  out.master_ = sys::UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!out.master_ || ::grantpt(out.master_.get()) != 0 || ::unlockpt(out.master_.get()) != 0) return failed("posix_openpt");
  const sys::UniqueFd slave(::ioctl(out.master_.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave) return failed("TIOCGPTPEER");
  out.ours_ = sys::UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  out.ending_ = sys::UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!out.ours_ || !out.ending_) return failed("dup");
  winsize size = {};
  if (::ioctl(out.ours_.get(), TIOCGWINSZ, &size) == 0) ::ioctl(out.master_.get(), TIOCSWINSZ, &size);
  ::tcsetattr(slave.get(), TCSANOW, &out.before_);
  auto raw = out.before_;
  ::cfmakeraw(&raw);
  if (::tcsetattr(out.ours_.get(), TCSADRAIN, &raw) != 0) return failed("tcsetattr");
  for (int number = 0; number < 3; ++number)
    if (::dup2(slave.get(), number) < 0) return failed("dup2");
  // Signals are for the thread that looks after the command.
  sigset_t all;
  sigset_t mask;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &mask);
  out.relay_ = std::thread(relay, out.ours_.get(), out.master_.get(), out.ending_.get());
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  return out;
}

LentTerminal::~LentTerminal() {
  if (!relay_.joinable()) return;
  const std::uint64_t one = 1;
  std::ignore = ::write(ending_.get(), &one, sizeof one);
  relay_.join();
  // What is said from here on is said on our own terminal.
  for (int number = 0; number < 3; ++number) ::dup2(ours_.get(), number);
  ::tcsetattr(ours_.get(), TCSADRAIN, &before_);
}

}  // namespace harn::session
