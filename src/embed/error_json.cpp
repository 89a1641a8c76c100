// SPDX-License-Identifier: Apache-2.0
#include "embed/error_json.h"

namespace harn::embed {

base::Value error_value(const Error& error) {
  base::Value members;
  members.set("code", name_of(error.code));
  members.set("category", category_of(error));
  members.set("stage", name_of(error.stage));
  members.set("message", error.message);
  members.set("hint", error.hint);
  members.set("where", error.where);
  return members;
}

}  // namespace harn::embed
