// SPDX-License-Identifier: Apache-2.0
#include "egress/socks5.h"

#include <algorithm>

namespace harn::egress {
namespace {

constexpr std::size_t request_head = 4;
constexpr std::uint8_t command_connect = 1;
constexpr std::uint8_t password_version = 1;
constexpr std::uint8_t address_v4 = 1;
constexpr std::uint8_t address_name = 3;
constexpr std::uint8_t address_v6 = 4;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

Socks5Step broken(std::string reply = {}) { return {.kind = Socks5Step::Kind::broken, .reply = std::move(reply)}; }

std::string print_address(std::string_view bytes, bool v6) {
  policy::IpBlock block{.v6 = v6, .bits = {}, .length = v6 ? 128 : 32};
  std::ranges::transform(bytes, block.bits.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  return policy::print_ip(block);
}

}  // namespace

Socks5Step read_socks5_greeting(std::string_view bytes, bool with_password) {
  if (bytes.empty()) return {};
  if (byte_at(bytes, 0) != socks_version) return broken();
  if (bytes.size() < 2) return {};
  const std::size_t methods = byte_at(bytes, 1);
  if (bytes.size() < 2 + methods) return {};
  const char method = with_password ? '\x02' : '\x00';
  if (bytes.substr(2, methods).find(method) == std::string_view::npos) return broken(std::string("\x05\xff", 2));
  return {.kind = Socks5Step::Kind::greeted, .used = 2 + methods, .reply = std::string("\x05") + method};
}

Socks5Step read_socks5_password(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (byte_at(bytes, 0) != password_version) return broken();
  if (bytes.size() < 2) return {};
  const std::size_t user = byte_at(bytes, 1);
  if (bytes.size() < 2 + user + 1) return {};
  const std::size_t password = byte_at(bytes, 2 + user);
  if (bytes.size() < 3 + user + password) return {};
  return {.kind = Socks5Step::Kind::greeted,
          .used = 3 + user + password,
          .user = std::string(bytes.substr(2, user)),
          .password = std::string(bytes.substr(3 + user, password))};
}

std::string print_socks5_password_reply(bool right) { return right ? std::string("\x01\x00", 2) : std::string("\x01\x01"); }

Socks5Step read_socks5_request(std::string_view bytes) {
  if (bytes.size() < request_head + 1) return {};
  if (byte_at(bytes, 0) != socks_version || byte_at(bytes, 2) != 0) return broken();
  if (byte_at(bytes, 1) != command_connect) return broken(print_socks5_reply(Socks5Reply::no_such_command));
  const auto type = byte_at(bytes, 3);
  std::size_t start = request_head;
  std::size_t length = 0;
  if (type == address_v4) length = 4;
  else if (type == address_v6) length = 16;
  else if (type == address_name) length = byte_at(bytes, start++);
  else return broken(print_socks5_reply(Socks5Reply::no_such_address_type));
  if (bytes.size() < start + length + 2) return {};
  Socks5Step step{.kind = Socks5Step::Kind::request, .used = start + length + 2};
  const auto address = bytes.substr(start, length);
  step.host = type == address_name ? std::string(address) : print_address(address, type == address_v6);
  step.port = static_cast<std::uint16_t>(byte_at(bytes, start + length) << 8 | byte_at(bytes, start + length + 1));
  return step;
}

std::string print_socks5_reply(Socks5Reply reply) {
  std::string out(10, '\0');
  out[0] = static_cast<char>(socks_version);
  out[1] = static_cast<char>(reply);
  out[3] = static_cast<char>(address_v4);
  return out;
}

}  // namespace harn::egress
