// SPDX-License-Identifier: Apache-2.0
// Proved facts, remembered. Whoever could write here could have a later run confined by less, so a file
// counts only when it, and the directory it is in, belong to this user and to nobody else.
#pragma once

#include <optional>

#include "harn/host.h"
#include "prove/facts_key.h"

namespace harn::prove {

// Nothing when there is none, when it is not ours alone, or when it is broken or about something else.
std::optional<HostFacts> load_facts(const AbsPath& directory, const FactsKey& key);

// In one step; forgets what earlier boots left. That it could not be kept is no error: the next run
// proves again.
void keep_facts(const AbsPath& directory, const FactsKey& key, const HostFacts& facts);

// The file, for messages and tests.
AbsPath facts_file(const AbsPath& directory, const FactsKey& key);

}  // namespace harn::prove
