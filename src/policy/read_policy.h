// SPDX-License-Identifier: Apache-2.0
// From a neutral tree to a Policy: the one reader behind every text format.
#pragma once

#include <vector>

#include "base/value.h"
#include "harn/policy_text.h"
#include "policy/place.h"

namespace harn::policy {

// A policy that has mistakes is not one; what could be read of it is not handed out.
Result<Policy> read_policy(const base::Value& root, const TextContext& context, TextFormat format);

// Every mistake that does not follow from another, in the order of the text.
std::vector<Error> policy_mistakes(const base::Value& root, const TextContext& context, TextFormat format);

// TOML text as a neutral tree.
Result<base::Value> parse_toml_value(std::string_view text, const TextContext& context);

// Refuses a text that is larger than any policy can reasonably be, before a parser sees it.
Status check_size(std::string_view text, const TextContext& context);

}  // namespace harn::policy
