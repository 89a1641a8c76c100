// SPDX-License-Identifier: Apache-2.0
// The head of an HTTP CONNECT request, and nothing else of HTTP: what follows it is not ours to read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace harn::egress {

inline constexpr std::size_t most_head_bytes = 16384;

struct ConnectStep {
  enum class Kind : std::uint8_t {
    more,
    request,
    broken  // answer `reply`, then close
  };
  Kind kind = Kind::more;
  std::size_t used = 0;  // bytes of the head, its empty line included
  std::string host = {};
  std::uint16_t port = 0;
  std::string reply = {};
  std::string authorization = {};  // what Proxy-Authorization says; empty = nothing
};

ConnectStep read_connect(std::string_view bytes);

// "HTTP/1.1 200 …" without a body, or a refusal with one line of text for people.
std::string print_connect_reply(int status, std::string_view reason, std::string_view text = {});

// To somebody without the password.
std::string print_who_are_you();

}  // namespace harn::egress
