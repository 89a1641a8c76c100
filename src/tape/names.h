// SPDX-License-Identifier: Apache-2.0
// The words of tapes.
#pragma once

#include <array>

#include "base/enum_names.h"
#include "harn/tape.h"

template <>
struct harn::base::EnumNames<harn::DivergenceKind> {
  using T = harn::DivergenceKind;
  static constexpr std::array names{
      std::pair{T::argv, std::string_view("argv")},       std::pair{T::cwd, std::string_view("cwd")},
      std::pair{T::env, std::string_view("env")},         std::pair{T::stdin_, std::string_view("stdin")},
      std::pair{T::policy, std::string_view("policy")},   std::pair{T::order, std::string_view("order")},
      std::pair{T::missing, std::string_view("missing")}, std::pair{T::extra, std::string_view("extra")},
  };
};
