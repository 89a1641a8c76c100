// SPDX-License-Identifier: Apache-2.0
#include "usability/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace harn::test {
namespace {

constexpr int patience_ms = 10'000;

}  // namespace

Terminal::Terminal(const Person& person, const std::vector<std::string>& words) {
  winsize size = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  int screen = -1;
  pid_ = ::forkpty(&screen, nullptr, nullptr, &size);
  if (pid_ == 0) {
    if (person.who() == Who::nobody && ::fchown(STDIN_FILENO, 65534, 65534) != 0) ::_exit(1);
    person.become(words, {.in = 0, .out = 1, .err = 2});
  }
  screen_ = sys::UniqueFd(screen);
  ::fcntl(screen, F_SETFD, FD_CLOEXEC);
}

Terminal::~Terminal() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

void Terminal::type(std::string_view text) const {
  if (::write(screen_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

bool Terminal::read_more(int wait_ms) {
  pollfd screen = {.fd = screen_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&screen, 1, wait_ms) <= 0) return false;
  char buffer[4096];
  const ssize_t got = ::read(screen_.get(), buffer, sizeof buffer);
  if (got <= 0) return false;
  seen_.append(buffer, static_cast<std::size_t>(got));
  return true;
}

bool Terminal::await_text(std::string_view text) {
  for (;;) {
    const auto at = seen_.find(text, awaited_);
    if (at != std::string::npos) {
      awaited_ = at + text.size();
      return true;
    }
    if (!read_more(patience_ms)) return false;
  }
}

void Terminal::resize(unsigned short rows, unsigned short columns) const {
  const winsize size = {.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(screen_.get(), TIOCSWINSZ, &size);
}

termios Terminal::settings() const {
  termios out = {};
  ::tcgetattr(screen_.get(), &out);
  return out;
}

int Terminal::finish() {
  while (read_more(patience_ms)) {
  }
  return test::finish(std::exchange(pid_, -1));
}

}  // namespace harn::test
