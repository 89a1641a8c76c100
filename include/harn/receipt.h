// SPDX-License-Identifier: Apache-2.0
// Receipt: what isolation was asked for one run, what was in force, and how that is known. It never
// claims more than was enforced; a layer that could not be proved is "assumed", a hole is a "gap".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harn/plan.h"

namespace harn {

enum class Proof : std::uint8_t {
  not_requested,
  gap,      // the plan says it is not fully enforced
  assumed,  // the kernel accepted the layer; nothing outside was tried
  proved,   // something outside was tried from inside, and refused, before the command started
};

struct ReceiptDimension {
  Dimension dimension = Dimension::reads;
  bool requested = false;
  Enforcement effective = Enforcement::not_requested;
  Proof proof = Proof::not_requested;
  std::vector<std::string> layers = {};
  std::string reason = {};

  bool operator==(const ReceiptDimension&) const = default;
};

struct Receipt {
  std::string run_id = {};
  std::string policy_digest = {};
  std::string plan_digest = {};
  std::string backend = {};
  std::string profile = {};
  std::string host = {};                           // whose facts the plan was made from, and what it pretends
  std::map<std::string, std::string> layers = {};  // "landlock" → "ABI 7"
  std::vector<ReceiptDimension> dimensions = {};
  std::vector<Gap> gaps = {};
  std::vector<TriedBackend> fallbacks = {};
  std::vector<RemovedVariable> env_removed = {};
  std::vector<std::string> credentials_exposed = {};
  std::map<std::string, std::uint64_t> timings_us = {};  // "plan" "prepare" "spawn" "run"

  bool operator==(const Receipt&) const = default;
};

std::string receipt_to_json(const Receipt& receipt, int indent = 2);

}  // namespace harn
