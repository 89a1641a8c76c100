// SPDX-License-Identifier: Apache-2.0
#include "egress/http_connect.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/ip_address.h"

namespace harn::egress {
namespace {

ConnectStep broken(int status, std::string_view reason, std::string_view text) {
  return {.kind = ConnectStep::Kind::broken, .reply = print_connect_reply(status, reason, text)};
}

ConnectStep bad_target() { return broken(400, "Bad Request", "harn: write CONNECT HOST:PORT"); }

// The value of a header of this name, which is in lower case; the last one counts.
std::string header_value(std::string_view head, std::string_view name) {
  std::string out;
  for (auto at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at)) {
    at += 2;
    const auto line = head.substr(at, head.find("\r\n", at) - at);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && base::lower_ascii(line.substr(0, colon)) == name) out = base::trim(line.substr(colon + 1));
  }
  return out;
}

}  // namespace

ConnectStep read_connect(std::string_view bytes) {
  constexpr std::string_view verb = "CONNECT ";
  const auto seen = bytes.substr(0, verb.size());
  if (seen != verb.substr(0, seen.size()))
    return broken(405, "Method Not Allowed", "harn: this proxy only knows CONNECT; other requests need no proxy");
  const auto end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos)
    return bytes.size() >= most_head_bytes ? broken(431, "Request Header Fields Too Large", "harn: the request is too long")
                                           : ConnectStep{};
  if (end >= most_head_bytes) return broken(431, "Request Header Fields Too Large", "harn: the request is too long");
  const auto line = bytes.substr(0, bytes.find("\r\n"));
  const auto target_end = line.find(' ', verb.size());
  if (target_end == std::string_view::npos || !line.substr(target_end + 1).starts_with("HTTP/1.")) return bad_target();
  const auto target = line.substr(verb.size(), target_end - verb.size());
  const auto colon = target.rfind(':');
  if (colon == std::string_view::npos) return bad_target();
  const auto port = policy::parse_decimal(target.substr(colon + 1), UINT16_MAX);
  if (!port || *port == 0) return bad_target();
  // A second colon is part of an IPv6 address, which must stand in brackets here.
  const auto host = target.substr(0, colon);
  if (host.find(':') != std::string_view::npos && !host.starts_with('[')) return bad_target();
  return {.kind = ConnectStep::Kind::request,
          .used = end + 4,
          .host = std::string(host),
          .port = static_cast<std::uint16_t>(*port),
          .authorization = header_value(bytes.substr(0, end), "proxy-authorization")};
}

std::string print_who_are_you() {
  constexpr std::string_view text = "harn: this proxy is of one command; its address with the password is in HTTPS_PROXY\n";
  return fmt::format(
      "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"harn\"\r\nContent-Type: text/plain\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      text.size(), text);
}

std::string print_connect_reply(int status, std::string_view reason, std::string_view text) {
  if (text.empty()) return fmt::format("HTTP/1.1 {} {}\r\n\r\n", status, reason);
  return fmt::format("HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}\n", status, reason,
                     text.size() + 1, text);
}

}  // namespace harn::egress
