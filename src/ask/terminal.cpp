// SPDX-License-Identifier: Apache-2.0
#include "ask/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <deque>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"
#include "sys/random_number.h"
#include "sys/unique_fd.h"

namespace harn::ask {
namespace {

constexpr std::size_t longest_line = 256;
constexpr int most_tries = 3;
// Colours off, usual letters, a visible cursor, scrolling everywhere, at the start of a new line: whatever the command left behind.
constexpr std::string_view sober = "\x1b[0m\x1b(B\x0f\x1b[?25h\x1b[r\x1b[999B\r\n";

struct Console {
  sys::UniqueFd fd = {};
  std::deque<Question> waiting = {};  // the first is shown
  std::string number = {};
  std::string line = {};
  int tries = 0;

  void say(std::string_view text) const { std::ignore = sys::write_all(fd.get(), text); }

  bool in_foreground() const { return ::tcgetpgrp(fd.get()) == ::getpgrp(); }

  void present() {
    if (waiting.empty()) return;
    number = fmt::format("{:04}", sys::random_number() % 10000);
    line.clear();
    tries = 0;
    ::tcflush(fd.get(), TCIFLUSH);  // what was typed before was typed about something else
    say(fmt::format("{}{}", sober, prompt_of(waiting.front(), number)));
  }

  void show(const Question& question) {
    waiting.push_back(question);
    if (waiting.size() == 1) present();
  }

  void withdraw(const Question& question, std::string_view why) {
    const bool shown = !waiting.empty() && waiting.front().id == question.id;
    std::erase_if(waiting, [&](const Question& one) { return one.id == question.id; });
    if (!shown) return;
    say(fmt::format("\r\nharn: {}\r\n", base::one_line(why)));
    present();
  }

  Heard listen() {
    Heard heard;
    char buffer[256];
    if (!in_foreground()) {
      heard.gone = true;
      return heard;
    }
    const auto got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return heard;
    if (got <= 0) {
      heard.gone = true;
      return heard;
    }
    line.append(buffer, static_cast<std::size_t>(got));
    if (line.size() > longest_line) line.assign("?\n");
    const auto end = line.find('\n');
    if (end == std::string::npos || waiting.empty()) return heard;
    auto said = read_reply(base::trim(std::string_view(line).substr(0, end)), number);
    line.clear();
    if (!said && ++tries < most_tries) {
      say(fmt::format("  the letter and the number, such as d{}: ", number));
      return heard;
    }
    heard.answers.emplace_back(waiting.front().id, said.value_or(Said{}));
    waiting.pop_front();
    present();
    return heard;
  }
};

}  // namespace

std::string prompt_of(const Question& question, std::string_view number) {
  std::string out = fmt::format("harn: the command asks to {} {}\n", question.access == "host" ? "reach" : question.access,
                                base::quoted(question.target, 1000));
  std::vector<std::string> processes;
  for (const auto& one : question.processes) processes.push_back(base::one_line(one));
  out += fmt::format("  {}{}\n", base::one_line(question.rule), processes.empty() ? "" : "; by " + base::join(processes, " > "));
  if (!question.warning.empty()) out += fmt::format("  WARNING: {}\n", base::one_line(question.warning));
  out +=
      fmt::format("  [o]nce, for this [r]un, {}[d]eny? The letter and {} (no after {} s): ", question.lasting ? "into the [p]olicy, " : "",
                  number, question.patience.count() / 1000);
  return out;
}

std::optional<Said> read_reply(std::string_view line, std::string_view number) {
  if (line.empty() || base::trim(line.substr(1)) != number) return std::nullopt;
  constexpr std::pair<char, Word> letters[] = {{'o', Word::once}, {'r', Word::run}, {'p', Word::policy}, {'d', Word::deny}};
  for (const auto& [letter, word] : letters)
    if (line.front() == letter) return Said{.word = word};
  return std::nullopt;
}

Result<Channel> open_terminal() {
  auto console = std::make_shared<Console>();
  const sys::UniqueFd opened(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  console->fd = sys::UniqueFd(opened ? ::fcntl(opened.get(), F_DUPFD_CLOEXEC, 10) : -1);
  if (!console->fd || !console->in_foreground())
    return fail(Error{.code = ErrorCode::not_available,
                      .stage = Stage::prepare,
                      .message = "there is no terminal to ask at",
                      .hint = "start harn at a terminal, in the foreground; or answer over a socket: --ask=/path/to/socket"});
  return Channel{.fd = console->fd.get(),
                 .show = [console](const Question& question) { console->show(question); },
                 .withdraw = [console](const Question& question, std::string_view why) { console->withdraw(question, why); },
                 .listen = [console] { return console->listen(); }};
}

}  // namespace harn::ask
