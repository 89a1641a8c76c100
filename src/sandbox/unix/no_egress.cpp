// SPDX-License-Identifier: Apache-2.0
// No relay: named hosts cannot be had here.
#include "sandbox/unix/egress.h"

namespace harn::sandbox {

struct Egress::Parts {
  Plan plan = {};
};

Egress::Egress(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Egress::Egress(Egress&&) noexcept = default;
Egress::~Egress() = default;

// Closed is not what was asked for either: a command that may reach one host would fail in ways nobody could explain.
Result<Egress> Egress::start(const Plan& plan, const RunOptions&) {
  for (const auto& gap : plan.coverage.gaps)
    if (gap.code == "per_host_network")
      return fail(Error{.code = ErrorCode::not_supported,
                        .stage = Stage::prepare,
                        .message = "the network cannot be opened to named hosts only: " + gap.detail,
                        .hint = "leave the hosts out (--allow-host, network.allowed_hosts), or open the whole network with --net allowed"});
  auto parts = std::make_unique<Parts>();
  parts->plan = plan;
  return Egress(std::move(parts));
}

const Plan& Egress::plan() const { return parts_->plan; }

void Egress::report(Outcome&) const {}

}  // namespace harn::sandbox
