// SPDX-License-Identifier: Apache-2.0
// Where Harn keeps what it remembers for a user, and where its settings stand.
#pragma once

#include <map>
#include <string>

#include "harn/path.h"

namespace harn::embed {

using Environment = std::map<std::string, std::string>;

AbsPath home_of(const Environment& environment);           // a place that does not exist where none is known
AbsPath user_config_file(const Environment& environment);  // $XDG_CONFIG_HOME/harn/config.toml
AbsPath state_directory(const Environment& environment);   // $XDG_STATE_HOME/harn
AbsPath facts_directory(const Environment& environment);   // $XDG_RUNTIME_DIR/harn, or the state directory
AbsPath trust_file(const Environment& environment);        // $XDG_STATE_HOME/harn/trusted
AbsPath audit_directory(const Environment& environment);   // $XDG_STATE_HOME/harn/audit
AbsPath ceiling_file();                                    // /etc/harn/ceiling.toml

}  // namespace harn::embed
