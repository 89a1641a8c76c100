// SPDX-License-Identifier: Apache-2.0
// The promises of tests/confine inside a container of the private engine. That each act succeeds without a
// sandbox is shown there.
#include "confine/support/ways.h"

#include "containers/engine_ground.h"

namespace harn::confine {

std::vector<Stand> stands() { return {{.way = Way::container, .uid = test::EngineGround::uid_for(test::asked_engine())}}; }

std::string missing_here(Way /*way*/) { return test::ground().missing(); }

std::string backend_of(Way /*way*/) { return test::ground().engine(); }

void add_environment(Way /*way*/, std::map<std::string, std::string>& environment) {
  environment.insert(test::ground().environment().begin(), test::ground().environment().end());
}

}  // namespace harn::confine
