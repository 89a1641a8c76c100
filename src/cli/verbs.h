// SPDX-License-Identifier: Apache-2.0
// The table of verbs and the way from words to a reply. A new verb is one row and one function.
#pragma once

#include <span>

#include "cli/args.h"
#include "harn/outcome.h"

namespace harn::cli {

// In the order help shows them.
std::span<const Verb> verbs();

// The verb the words begin with ("policy check" before "policy"); null when there is none.
const Verb* find_verb(std::span<const std::string> words);

// Parses, runs, and renders errors as the caller asked: the whole program except main's I/O.
Reply answer(const Caller& caller);

// One function per verb, in verb_<name>.cpp.
Result<Reply> run_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> explain_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> learn_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> shell_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> plan_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> replay_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> test_bench(const Arguments& arguments, const Caller& caller);
Result<Reply> diff_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> apply_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> discard_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> session_create(const Arguments& arguments, const Caller& caller);
Result<Reply> session_exec(const Arguments& arguments, const Caller& caller);
Result<Reply> session_list(const Arguments& arguments, const Caller& caller);
Result<Reply> session_show(const Arguments& arguments, const Caller& caller);
Result<Reply> session_mount(const Arguments& arguments, const Caller& caller);
Result<Reply> session_network(const Arguments& arguments, const Caller& caller);
Result<Reply> session_snapshot(const Arguments& arguments, const Caller& caller);
Result<Reply> session_restore(const Arguments& arguments, const Caller& caller);
Result<Reply> session_suspend(const Arguments& arguments, const Caller& caller);
Result<Reply> session_resume(const Arguments& arguments, const Caller& caller);
Result<Reply> session_terminate(const Arguments& arguments, const Caller& caller);
Result<Reply> session_gc(const Arguments& arguments, const Caller& caller);
Result<Reply> policy_check(const Arguments& arguments, const Caller& caller);
Result<Reply> policy_show(const Arguments& arguments, const Caller& caller);
Result<Reply> policy_intersect(const Arguments& arguments, const Caller& caller);
Result<Reply> policy_within(const Arguments& arguments, const Caller& caller);
Result<Reply> policy_lower(const Arguments& arguments, const Caller& caller);
Result<Reply> policy_import(const Arguments& arguments, const Caller& caller);
Result<Reply> policy_schema_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> trust_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> doctor_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> audit_verify(const Arguments& arguments, const Caller& caller);
Result<Reply> audit_show(const Arguments& arguments, const Caller& caller);
Result<Reply> audit_tail(const Arguments& arguments, const Caller& caller);
Result<Reply> audit_export(const Arguments& arguments, const Caller& caller);
Result<Reply> audit_keygen(const Arguments& arguments, const Caller& caller);
Result<Reply> probe_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> completion_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> version_verb(const Arguments& arguments, const Caller& caller);
Result<Reply> help_verb(const Arguments& arguments, const Caller& caller);

// How a command ended, for who ran it: its exit code, the limit it met, or everything as JSON.
Reply reply_for(Outcome outcome, const Caller& caller, bool json);

}  // namespace harn::cli
