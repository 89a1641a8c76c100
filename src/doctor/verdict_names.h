// SPDX-License-Identifier: Apache-2.0
// Wire names of the verdicts.
#pragma once

#include "base/enum_names.h"
#include "harn/doctor.h"

namespace harn::base {

template <>
struct EnumNames<Verdict> {
  static constexpr std::array names{std::pair{Verdict::conforms, std::string_view("conforms")},
                                    std::pair{Verdict::escaped, std::string_view("escaped")},
                                    std::pair{Verdict::overrefused, std::string_view("overrefused")},
                                    std::pair{Verdict::not_measured, std::string_view("not_measured")},
                                    std::pair{Verdict::not_enforced, std::string_view("not_enforced")},
                                    std::pair{Verdict::probe_broken, std::string_view("probe_broken")}};
};

}  // namespace harn::base
