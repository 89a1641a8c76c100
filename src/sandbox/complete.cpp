// SPDX-License-Identifier: Apache-2.0
#include "sandbox/complete.h"

#include <iterator>

#include "run/run_id.h"
#include "sandbox/record.h"
#include "sys/files.h"

namespace harn {

namespace sandbox {

void complete(const RunOptions& options, Outcome& outcome, Receipt receipt, const std::string& plan_digest) {
  if (options.denials) {
    auto denials = options.denials(outcome);
    outcome.denials.insert(outcome.denials.end(), std::make_move_iterator(denials.begin()), std::make_move_iterator(denials.end()));
  }
  if (!outcome.error.empty())
    receipt.gaps.push_back({.dimension = Dimension::processes, .code = "left_running", .paths = {}, .detail = outcome.error, .remedy = {}});
  record_end(options, outcome, plan_digest, receipt.run_id);
  outcome.receipt = std::move(receipt);
}

}  // namespace sandbox

std::string make_run_id() { return run::make_run_id(); }

Result<AbsPath> ensure_canary(const AbsPath& directory) {
  auto file = directory.join("canary");
  if (sys::type_of(file) == sys::FileType::file) return file;
  HARN_OK(sys::replace_file(file, "This file is tried from inside every sandbox, and must be refused there.\n"));
  return file;
}

}  // namespace harn
