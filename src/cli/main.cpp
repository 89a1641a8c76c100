// SPDX-License-Identifier: Apache-2.0
// The edge of the program: arguments, environment, working directory and terminal are read here once
// and passed on as values; text is written here once.
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>

#include "cli/verbs.h"

namespace {

std::map<std::string, std::string> read_environment(char** entries) {
  std::map<std::string, std::string> environment;
  for (; *entries != nullptr; ++entries) {
    const std::string_view entry = *entries;
    const auto equals = entry.find('=', 1);
    // Where a name stands twice, getenv() sees the first; so do we.
    if (equals != std::string_view::npos) environment.try_emplace(std::string(entry.substr(0, equals)), entry.substr(equals + 1));
  }
  return environment;
}

// Every relative path hangs on it, so there is no stand-in for one that was deleted or is unreachable.
std::optional<harn::AbsPath> working_directory() {
  char buffer[PATH_MAX];
  if (::getcwd(buffer, sizeof buffer) == nullptr) return std::nullopt;
  auto path = harn::AbsPath::parse(buffer);
  if (!path) return std::nullopt;
  return std::move(*path);
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string read_input(std::size_t most) {
  std::string bytes(most, '\0');
  std::size_t filled = 0;
  while (filled < most) {
    const auto got = ::read(STDIN_FILENO, bytes.data() + filled, most - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

// Neither of the standard streams need be the terminal somebody sits at.
std::string ask_at_terminal(std::string_view question) {
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return {};
  std::string line;
  char letter = 0;
  ::tcflush(terminal, TCIFLUSH);  // what was typed before was typed about something else
  if (write_all(terminal, question))
    while (line.size() < 256 && ::read(terminal, &letter, 1) == 1 && letter != '\n') line += letter;
  ::close(terminal);
  return line;
}

// Whatever is opened next would take the place of a closed standard stream.
void fill_standard_streams() {
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", O_RDWR);
}

}  // namespace

int main(int argc, char** argv, char** environment) {
  fill_standard_streams();
  harn::cli::Caller caller;
  caller.words.assign(argv + (argc > 0 ? 1 : 0), argv + argc);
  caller.environment = read_environment(environment);
  const auto cwd = working_directory();
  caller.cwd_exists = cwd.has_value();
  if (cwd) caller.cwd = *cwd;
  const auto no_colour = caller.environment.find("NO_COLOR");
  caller.terminal = ::isatty(STDOUT_FILENO) == 1;
  caller.colour = caller.terminal && (no_colour == caller.environment.end() || no_colour->second.empty());

  caller.input_terminal = ::isatty(STDIN_FILENO) == 1;

  caller.ask = ask_at_terminal;
  caller.tell = [](std::string_view text) { write_all(STDERR_FILENO, text); };
  caller.write = [](std::string_view text) { return write_all(STDOUT_FILENO, text); };

  caller.read = read_input;

  const auto reply = harn::cli::answer(caller);
  write_all(STDERR_FILENO, reply.err);
  // An answer nobody received is not a success.
  const bool told = write_all(STDOUT_FILENO, reply.out);
  return told || reply.exit_code != 0 ? reply.exit_code : harn::cli::exit_usage;
}
