// SPDX-License-Identifier: Apache-2.0
// Bytes as SOCKS5 and HTTP CONNECT heads: no crash, nothing consumed that is not there, and the same step however
// the bytes arrive.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "egress/http_connect.h"
#include "egress/socks5.h"
#include "policy/egress_rules.h"

namespace {

using namespace harn::egress;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Step, class Read>
void check(std::string_view bytes, Read read) {
  const Step step = read(bytes);
  require(step.used <= bytes.size());
  // Once a step is complete, more bytes change nothing; before that, fewer bytes never complete it otherwise.
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const Step early = read(bytes.substr(0, length));
    if (early.kind == Step::Kind::more) continue;
    require(early.kind == step.kind && early.used == step.used && early.reply == step.reply);
    break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check<Socks5Step>(bytes, [](std::string_view text) { return read_socks5_greeting(text); });
  check<Socks5Step>(bytes, [](std::string_view text) { return read_socks5_greeting(text, true); });
  check<Socks5Step>(bytes, read_socks5_password);
  check<Socks5Step>(bytes, read_socks5_request);
  check<ConnectStep>(bytes, read_connect);
  const auto request = read_connect(bytes);
  if (request.kind != ConnectStep::Kind::request) return 0;
  require(request.port != 0);
  if (const auto host = harn::policy::parse_destination(request.host))
    require(harn::policy::text_of(*harn::policy::parse_destination(harn::policy::text_of(*host))) == harn::policy::text_of(*host));
  return 0;
}
