// SPDX-License-Identifier: Apache-2.0
#include "ask/line_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"
#include "sys/unique_fd.h"

namespace harn::ask {
namespace {

constexpr std::size_t longest_line = 65536;

// Shared by the functions of one channel, which has no other owner.
struct Line {
  sys::UniqueFd fd = {};
  std::string received = {};
  bool gone = false;

  // An operator who does not read is as good as gone; nobody waits for one.
  void send(const std::string& text) {
    if (gone || ::send(fd.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) gone = true;
  }

  Heard listen() {
    char buffer[4096];
    while (!gone) {
      const auto got = ::recv(fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      if (got <= 0) gone = true;
      else received.append(buffer, static_cast<std::size_t>(got));
      if (received.size() > longest_line) gone = true;
      if (received.find('\n') != std::string::npos) break;
    }
    Heard heard;
    for (auto end = received.find('\n'); end != std::string::npos; end = received.find('\n')) {
      if (auto answer = read_answer(std::string_view(received).substr(0, end))) heard.answers.push_back(*answer);
      else gone = true;  // who cannot be understood has not said yes
      received.erase(0, end + 1);
    }
    heard.gone = gone;
    return heard;
  }
};

std::unexpected<Error> no_operator(const AbsPath& socket, int error) {
  auto out = sys::os_failure("connect", socket.text(), error, Stage::prepare);
  out.message = fmt::format("nobody to ask at {}: {}", base::quoted(socket.text()), std::strerror(error));
  out.hint = "start what answers questions there first; docs/denials.md has the protocol";
  return fail(std::move(out));
}

}  // namespace

Result<Channel> connect_operator(const AbsPath& socket, const Hello& hello) {
  auto line = std::make_shared<Line>();
  line->fd = sys::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (socket.text().size() >= sizeof address.sun_path) return no_operator(socket, ENAMETOOLONG);
  socket.text().copy(address.sun_path, sizeof address.sun_path - 1);
  if (!line->fd || ::connect(line->fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return no_operator(socket, errno);
  // Away from the numbers the command's descriptors get.
  sys::UniqueFd moved(::fcntl(line->fd.get(), F_DUPFD_CLOEXEC, 10));
  if (!moved) return no_operator(socket, errno);
  line->fd = std::move(moved);
  line->send(hello_line(hello));
  return Channel{.fd = line->fd.get(),
                 .show = [line](const Question& question) { line->send(question_line(question)); },
                 .withdraw = [line](const Question& question, std::string_view why) { line->send(withdrawn_line(question, why)); },
                 .listen = [line] { return line->listen(); }};
}

}  // namespace harn::ask
