// SPDX-License-Identifier: Apache-2.0
// Named hosts where the network can be opened to ports of this machine but not to hosts: a relay listens there, and
// decides. A plan without such hosts needs none.
#pragma once

#include <memory>

#include "harn/sandbox.h"

namespace harn::sandbox {

class Egress {
 public:
  // The relay is up, and the plan knows its ports, when this returns.
  static Result<Egress> start(const Plan& plan, const RunOptions& options);
  Egress(Egress&&) noexcept;
  Egress& operator=(Egress&&) = delete;
  ~Egress();

  const Plan& plan() const;  // with what is only known now
  void report(Outcome& outcome) const;

 private:
  struct Parts;
  explicit Egress(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace harn::sandbox
