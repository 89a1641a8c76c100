// SPDX-License-Identifier: Apache-2.0
// SOCKS5 (RFC 1928) as a server, CONNECT only, without authentication or with a password (RFC 1929). The parser is given all bytes
// received so far and answers what to do next; it keeps nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "policy/ip_address.h"

namespace harn::egress {

inline constexpr std::uint8_t socks_version = 5;

enum class Socks5Reply : std::uint8_t {
  granted = 0,
  failed = 1,
  not_allowed = 2,
  host_unreachable = 4,
  refused = 5,
  no_such_command = 7,
  no_such_address_type = 8
};

struct Socks5Step {
  enum class Kind : std::uint8_t {
    more,     // not enough bytes yet
    greeted,  // answer `reply`, then go on reading
    request,  // connect to `host` and `port`
    broken    // answer `reply` if any, then close
  };
  Kind kind = Kind::more;
  std::size_t used = 0;    // bytes this step consumed
  std::string reply = {};  // to be sent at once
  std::string host = {};   // text, to be parsed like any other host
  std::uint16_t port = 0;
  std::string user = {};  // with a password
  std::string password = {};
};

// Whether a password is asked for is the server's choice.
Socks5Step read_socks5_greeting(std::string_view bytes, bool with_password = false);
// Between greeting and request, where one is asked for; what it is worth is not decided here.
Socks5Step read_socks5_password(std::string_view bytes);
std::string print_socks5_password_reply(bool right);
Socks5Step read_socks5_request(std::string_view bytes);
std::string print_socks5_reply(Socks5Reply reply);

}  // namespace harn::egress
