/* SPDX-License-Identifier: Apache-2.0
 *
 * Harn for programs in any language: JSON in, JSON out. libharn.so exports these functions and nothing else.
 *
 *   char *error = NULL;
 *   harn_sandbox *sandbox = harn_sandbox_open("{\"policy\": {}}", &error);
 *   char *outcome = harn_sandbox_run(sandbox, "{\"argv\": [\"make\", \"test\"], \"timeout_ms\": 30000}", NULL, NULL, NULL);
 *   ...
 *   harn_free(outcome);
 *   harn_sandbox_close(sandbox);
 *
 * Every char * that is returned is JSON in UTF-8, never NULL, and the caller's: give it to harn_free(). What went wrong
 * before a command ran is {"error": {"code", "category", "stage", "message", "hint", "where"}}. Text that is no UTF-8
 * travels as {"base64": "..."}, in both directions. Unknown members are errors.
 *
 * Every function may be called from any thread, also on the same object at the same time; only closing an object
 * needs the caller to be the last user. Signal actions, the signal mask, the working directory, the umask, the
 * environment, descriptors and other children of the process stay as they are. docs/embedding.md tells the rest.
 */
#ifndef HARN_H
#define HARN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): names as C has them */

#if defined(__GNUC__)
#define HARN_API __attribute__((visibility("default")))
#else
#define HARN_API
#endif

/* Of this header. A library with another number does not fit. */
#define HARN_ABI 1

HARN_API int harn_abi(void);
HARN_API const char* harn_version(void); /* not to be freed */
HARN_API void harn_free(char* text);     /* NULL is fine */

/* ---- ending a command from another thread ------------------------------------------------------------ */

/* One stop may be given to many runs. Once asked for it stays so. */
typedef struct harn_stop harn_stop;
HARN_API harn_stop* harn_stop_create(void); /* NULL: no descriptor is left */
HARN_API void harn_stop_request(const harn_stop* stop);
HARN_API void harn_stop_free(harn_stop* stop); /* after the runs it was given to */

/* Told each piece of output as it comes, on the thread that runs the command, which waits for it. `stream` is 1 or 2. */
typedef void (*harn_output)(void* user, int stream, const char* bytes, size_t size);

/* ---- a policy, opened on this host ------------------------------------------------------------------- */

/* {"policy": {...}, "context": {"environment": {...}, "cwd": "/..."}, "backend": "linux", "fallback": "warn",
 *  "no_sandbox": false, "audit": "process"}. Without a context this process's environment and directory are read, once.
 *  Runs are recorded in the log of `harn run` unless audit is "off"; "power" is the default under os_hardened.
 *  "record": "/x.tape" adds every run to a tape; "replay": "/x.tape" answers from one and starts nothing, and then
 *  "ignore": ["env", ...] and "ignore_env": ["NAME", ...] say what may differ. NULL when it cannot be opened; *error
 *  then says why. */
typedef struct harn_sandbox harn_sandbox;
HARN_API harn_sandbox* harn_sandbox_open(const char* request, char** error);
HARN_API void harn_sandbox_close(harn_sandbox* sandbox);

/* {"tape": "/x.tape"}: {"tape": "/x.tape", "torn": false, "repaired": 0, "records": [...]}, every run in the order of the
 * tape, without the bytes of its outputs. {"tape": "/x.tape", "exec": 3}: that run, counted from 1, with them
 * (harn.run_record.v2, docs/replay.md). A tape that is not as it was recorded is an error. */
HARN_API char* harn_tape_read(const char* request);

/* {"policy": {...as composed under the system's ceiling...}, "digest": "policy-...", "profile": "worktree"} */
HARN_API char* harn_sandbox_policy(const harn_sandbox* sandbox);

/* {"argv": ["make", "test"], "cwd": "/...", "environment": {...}, "image": "...", "timeout_ms": 30000, "input": "...",
 *  "captured_bytes": 67108864, "receipt": true, "profile": "os_hardened", "limits": {...}, "within": [...]}: of these only
 *  argv is needed. A profile may be stricter than the policy's, limits smaller. "within" is a list of policies around this
 *  call, outermost first, that narrow it: {"policy": {...}, "sub_agent": false, "allow_demotion": false}. */
HARN_API char* harn_sandbox_plan(const harn_sandbox* sandbox, const char* command);
/* An outcome as `harn run --json` prints it. */
HARN_API char* harn_sandbox_run(const harn_sandbox* sandbox, const char* command, const harn_stop* stop, harn_output output, void* user);

/* ---- files, without a command ------------------------------------------------------------------------ */

/* What links lead to is looked at now; open it again after a command changed that. */
typedef struct harn_files harn_files;
HARN_API harn_files* harn_files_open(const harn_sandbox* sandbox, char** error);
HARN_API void harn_files_close(harn_files* files);

/* {"operation": "read_text", "path": "...", "max_bytes": 67108864} to {"text": "..."}; "list" to {"entries": [{"name", "kind"}]},
 *  "exists" to {"exists": true}; "write_text" with "text", "delete" and "delete_tree" to {}. Also "within", as above. What the
 *  policy does not allow has the category "tool_rejected". */
HARN_API char* harn_files_do(const harn_files* files, const char* request);

/* ---- the executor of Harness ------------------------------------------------------------------------- */

/* {"sandbox": {...the table [sandbox] of .harness/config.toml...}, "context": {...}, "audit": "process"}. What the table leaves out has
 *  Harness's default, but for "enabled", which creating an executor implies. */
typedef struct harn_executor harn_executor;
HARN_API harn_executor* harn_executor_create(const char* request, char** error);
/* Waits for commands that run, removes what the executor made; nothing runs afterwards. From a command's own callback it does not wait: the
 *  last command that ends removes it. */
HARN_API char* harn_executor_cleanup(harn_executor* executor);
HARN_API void harn_executor_free(harn_executor* executor);

/* {"mode", "profile", "backend", "notes": [...]} */
HARN_API char* harn_executor_describe(const harn_executor* executor);
/* {"blocked": null} or {"blocked": "Command blocked by sandbox policy: contains '...'"} */
HARN_API char* harn_executor_validate(const harn_executor* executor, const char* command);
/* {"command": "make test", "cwd": "/...", "timeout_ms": 30000, "input": "...", "within": [...]} to an outcome; "error" is a text here. */
HARN_API char* harn_executor_execute(const harn_executor* executor, const char* request, const harn_stop* stop, harn_output output,
                                     void* user);

/* {"start": "/...", "home": "/..."} to {"found": false} or {"found": true, "file": "/...", "sandbox": {...}}: the nearest
 *  .harness/config.toml with such a table, with every default filled in. */
HARN_API char* harn_harness_config(const char* request);

/* ---- sessions ---------------------------------------------------------------------------------------- */

/* A sandbox that stays: the contract of harn/session.h, the values as JSON there. Sessions outlive the program; any later one of the same
 *  user that opens the same backend finds them. Errors have "kind" too: "session_not_found", "unsupported" (with "backend"),
 *  "invalid_request", "lifecycle", "exec", "network_policy", "io", "json" or "task", and "detail".
 *
 *  {"backend": "local", "profile": "os_hardened", "root_dir": "/...", "lifetime_ms": 3600000, "image": "...", "context": {...},
 *  "audit": "process"}, all of it optional. "backend" may be "docker", "podman" or "container"; "image" is for those. Without a root_dir
 * each session has a fresh directory. */
typedef struct harn_backend harn_backend;
HARN_API harn_backend* harn_backend_open(const char* request, char** error);
HARN_API void harn_backend_close(harn_backend* backend); /* its sessions stay */
/* {"name": "local", "capabilities": {"local_process_sandbox": true, ...}} */
HARN_API char* harn_backend_describe(const harn_backend* backend);

/* A SandboxSpec, "{}" for one with nothing special, to a SandboxSession. */
HARN_API char* harn_session_create(harn_backend* backend, const char* spec);
/* {"command": "make", "args": ["test"], "cwd": "...", "env": {...}, "stdin": "...", "timeout": {"secs": 30, "nanos": 0}} to
 *  {"stdout", "stderr", "exit_code", "timed_out"}. */
HARN_API char* harn_session_exec(harn_backend* backend, const char* id, const char* request, const harn_stop* stop, harn_output output,
                                 void* user);
HARN_API char* harn_session_list(harn_backend* backend); /* {"sessions": [...]} */
HARN_API char* harn_session_show(harn_backend* backend, const char* id);
/* {"source": "/...", "target": "/mnt/...", "access": "read_only"}; an empty source is a fresh directory. */
HARN_API char* harn_session_mount(harn_backend* backend, const char* id, const char* mount);
/* {"mode": "unrestricted"} or {"mode": "limited", "allowed_hosts": []} */
HARN_API char* harn_session_network(harn_backend* backend, const char* id, const char* policy);
HARN_API char* harn_session_snapshot(harn_backend* backend, const char* id);
HARN_API char* harn_session_restore(harn_backend* backend, const char* id, const char* snapshot); /* as snapshot() gave it */
HARN_API char* harn_session_suspend(harn_backend* backend, const char* id);
HARN_API char* harn_session_resume(harn_backend* backend, const char* id);
HARN_API char* harn_session_terminate(harn_backend* backend, const char* id); /* {} */
/* What killed programs and reboots left: {"cleared": ["id", ...]} */
HARN_API char* harn_session_gc(harn_backend* backend);

/* ---- diagnostics ------------------------------------------------------------------------------------- */

/* The argument is a context as above, or NULL for this process's. */
HARN_API char* harn_sandbox_active_backend(const char* context);         /* {"backend": "linux"}; "noop" = none works */
HARN_API char* harn_sandbox_backend_available(const char* context);      /* {"available": true} */
HARN_API char* harn_sandbox_active_profile(const harn_sandbox* sandbox); /* {"profile": "worktree"}; NULL = none: "unrestricted" */

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
