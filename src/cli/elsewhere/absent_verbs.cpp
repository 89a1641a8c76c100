// SPDX-License-Identifier: Apache-2.0
// Verbs that rest on what only Linux has. They stand in the same table on every system, so that help is the same and
// nobody takes a missing word for a typing error.
#include <fmt/format.h>

#include "cli/verbs.h"

namespace harn::cli {
namespace {

Result<Reply> only_on_linux(std::string_view verb) {
  return fail(Error{.code = ErrorCode::not_available,
                    .stage = Stage::cli,
                    .message = fmt::format("'harn {}' works on Linux only", verb),
                    .hint = "docs/backends says what each system has"});
}

}  // namespace

Result<Reply> explain_verb(const Arguments&, const Caller&) { return only_on_linux("explain"); }
Result<Reply> learn_verb(const Arguments&, const Caller&) { return only_on_linux("learn"); }
Result<Reply> replay_verb(const Arguments&, const Caller&) { return only_on_linux("replay"); }
Result<Reply> test_bench(const Arguments&, const Caller&) { return only_on_linux("test bench"); }
Result<Reply> diff_verb(const Arguments&, const Caller&) { return only_on_linux("diff"); }
Result<Reply> apply_verb(const Arguments&, const Caller&) { return only_on_linux("apply"); }
Result<Reply> discard_verb(const Arguments&, const Caller&) { return only_on_linux("discard"); }
Result<Reply> session_create(const Arguments&, const Caller&) { return only_on_linux("session create"); }
Result<Reply> session_exec(const Arguments&, const Caller&) { return only_on_linux("session exec"); }
Result<Reply> session_list(const Arguments&, const Caller&) { return only_on_linux("session list"); }
Result<Reply> session_show(const Arguments&, const Caller&) { return only_on_linux("session show"); }
Result<Reply> session_mount(const Arguments&, const Caller&) { return only_on_linux("session mount"); }
Result<Reply> session_network(const Arguments&, const Caller&) { return only_on_linux("session network"); }
Result<Reply> session_snapshot(const Arguments&, const Caller&) { return only_on_linux("session snapshot"); }
Result<Reply> session_restore(const Arguments&, const Caller&) { return only_on_linux("session restore"); }
Result<Reply> session_suspend(const Arguments&, const Caller&) { return only_on_linux("session suspend"); }
Result<Reply> session_resume(const Arguments&, const Caller&) { return only_on_linux("session resume"); }
Result<Reply> session_terminate(const Arguments&, const Caller&) { return only_on_linux("session terminate"); }
Result<Reply> session_gc(const Arguments&, const Caller&) { return only_on_linux("session gc"); }
Result<Reply> probe_verb(const Arguments&, const Caller&) { return only_on_linux("probe"); }

}  // namespace harn::cli
