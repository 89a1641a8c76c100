// SPDX-License-Identifier: Apache-2.0
#include "embed/explain_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

namespace harn::embed {
namespace {

template <class T>
std::optional<T> as(std::string_view bytes) {
  T value = {};
  if (bytes.size() < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

bool is_loopback(const in6_addr& address) {
  if (IN6_IS_ADDR_LOOPBACK(&address)) return true;
  return IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127;
}

}  // namespace

std::optional<Address> parse_address(std::string_view bytes) {
  const auto family = as<sa_family_t>(bytes);
  if (!family) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (const auto v4 = *family == AF_INET ? as<sockaddr_in>(bytes) : std::nullopt) {
    ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    const auto port = ntohs(v4->sin_port);
    return Address{.text = fmt::format("{}:{}", text.data(), port), .port = port, .loopback = (ntohl(v4->sin_addr.s_addr) >> 24u) == 127};
  }
  if (const auto v6 = *family == AF_INET6 ? as<sockaddr_in6>(bytes) : std::nullopt) {
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    const auto port = ntohs(v6->sin6_port);
    return Address{.text = fmt::format("[{}]:{}", text.data(), port), .port = port, .loopback = is_loopback(v6->sin6_addr)};
  }
  constexpr auto path_at = offsetof(sockaddr_un, sun_path);
  if (*family != AF_UNIX || bytes.size() <= path_at + 1 || bytes[path_at] != '\0') return std::nullopt;
  return Address{.text = std::string(bytes.substr(path_at + 1)), .abstract = true};
}

FamilyText describe_family(std::uint64_t family, std::uint64_t type) {
  constexpr std::uint64_t kind_bits = 0xf;  // SOCK_TYPE_MASK
  const auto kind = type & kind_bits;
  const std::string kind_text = kind == SOCK_STREAM      ? "SOCK_STREAM"
                                : kind == SOCK_DGRAM     ? "SOCK_DGRAM"
                                : kind == SOCK_RAW       ? "SOCK_RAW"
                                : kind == SOCK_SEQPACKET ? "SOCK_SEQPACKET"
                                                         : fmt::format("type {}", kind);
  const bool internet = family == AF_INET || family == AF_INET6;
  const std::string name = family == AF_INET    ? "AF_INET"
                           : family == AF_INET6 ? "AF_INET6"
                           : family == AF_UNIX  ? "AF_UNIX"
                                                : fmt::format("family {}", family);
  const bool plain = kind == SOCK_STREAM || kind == SOCK_DGRAM;
  return {.kind = internet && plain ? Family::internet : family == AF_UNIX ? Family::local : Family::other, .text = name + " " + kind_text};
}

}  // namespace harn::embed
