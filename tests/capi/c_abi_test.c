/* SPDX-License-Identifier: Apache-2.0
 * The C ABI as a C89 program sees it: answers, errors, streaming, cancelling, threads, and a process that is
 * left exactly as it was. */
#define _GNU_SOURCE /* struct sigaction, umask, pthread */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harn.h"

static int failures = 0;

static void expect(int holds, const char *what, const char *seen) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "FAILED: %s\n  saw: %.2000s\n", what, seen == NULL ? "" : seen);
}

/* Frees the answer. */
static void expect_in(char *answer, const char *part, const char *what) {
  expect(answer != NULL && strstr(answer, part) != NULL, what, answer);
  harn_free(answer);
}

static int count_descriptors(void) {
  int count = 0;
  DIR *directory = opendir("/proc/self/fd");
  if (directory == NULL) return -1;
  while (readdir(directory) != NULL) ++count;
  closedir(directory);
  return count;
}

static void collect(void *user, int stream, const char *bytes, size_t size) {
  char *told = (char *)user;
  char piece[64];
  sprintf(piece, "<%d:%lu>", stream, (unsigned long)size);
  strcat(told, piece);
  strncat(told, bytes, size);
}

struct stopping {
  const harn_stop *stop;
};

static void *stop_soon(void *argument) {
  usleep(200000);
  harn_stop_request(((struct stopping *)argument)->stop);
  return NULL;
}

static void *run_some(void *argument) {
  int round;
  const harn_executor *executor = (const harn_executor *)argument;
  for (round = 0; round < 5; ++round)
    expect_in(harn_executor_execute(executor, "{\"command\": \"echo same\"}", NULL, NULL, NULL), "\"stdout\": \"same\\n\"", "from a thread");
  return NULL;
}

static void test_errors(void) {
  char *error = NULL;
  expect(harn_sandbox_open("{", &error) == NULL, "broken JSON opens nothing", NULL);
  expect_in(error, "\"error\": {", "it says what is wrong");
  expect(harn_sandbox_open("{\"policy\": {\"sandbox_profil\": 1}}", &error) == NULL, "an unknown member is an error", NULL);
  expect_in(error, "sandbox_profile", "it names the nearest member");
  expect(harn_sandbox_open(NULL, NULL) == NULL, "NULL opens nothing", NULL);
  expect(harn_executor_create("{\"sandbox\": {\"mode\": \"chroot\"}}", &error) == NULL, "an unknown mode is an error", NULL);
  expect_in(error, "docker", "it names the modes");
  expect_in(harn_sandbox_run(NULL, "{}", NULL, NULL, NULL), "\"error\": {", "no object, an error");
  expect_in(harn_executor_validate(NULL, "x"), "\"error\": {", "no object, an error");
  harn_free(NULL);
  harn_stop_free(NULL);
  harn_sandbox_close(NULL);
  harn_executor_free(NULL);
  harn_stop_request(NULL);
}

static void test_sandbox(void) {
  char told[4096] = "";
  char *error = NULL;
  harn_sandbox *sandbox = harn_sandbox_open("{\"policy\": {\"blocked_commands\": [\"curl\"]}}", &error);
  expect(sandbox != NULL, "a policy opens", error);
  if (sandbox == NULL) return;
  expect_in(harn_sandbox_policy(sandbox), "\"digest\": \"policy-", "its policy");
  expect_in(harn_sandbox_active_profile(sandbox), "{\"profile\": \"worktree\"}", "its profile");
  expect_in(harn_sandbox_plan(sandbox, "{\"argv\": [\"true\"]}"), "\"coverage\"", "its plan");
  expect_in(harn_sandbox_run(sandbox, "{\"argv\": [\"sh\", \"-c\", \"cat; exit 3\"], \"input\": \"fed\"}", NULL, NULL, NULL),
            "\"exit_code\": 3, \"stdout\": \"fed\"", "a run with input");
  expect_in(harn_sandbox_run(sandbox, "{\"argv\": [\"printf\", \"\\\\377\"]}", NULL, NULL, NULL), "\"stdout\": {\"base64\": \"/w==\"}",
            "bytes that are no text");
  expect_in(harn_sandbox_run(sandbox, "{\"argv\": [\"sh\", \"-c\", \"echo o; echo e >&2\"]}", NULL, collect, told), "\"exit_code\": 0",
            "a run with a callback");
  expect(strstr(told, "<1:2>o\n") != NULL && strstr(told, "<2:2>e\n") != NULL, "both streams are told", told);
  expect_in(harn_sandbox_run(sandbox, "{\"argv\": [\"curl\"]}", NULL, NULL, NULL), "\"category\": \"tool_rejected\"", "a blocked command");
  expect_in(harn_sandbox_run(sandbox, "{\"argv\": [\"no-such-program\"]}", NULL, NULL, NULL), "invalid_command", "a missing program");
  expect_in(harn_sandbox_run(sandbox, "{\"argv\": [\"true\"], \"timeout\": 3}", NULL, NULL, NULL), "timeout_ms", "an unknown member");
  harn_sandbox_close(sandbox);
}

static harn_sandbox *open_with(const char *member, const char *tape) {
  char request[5000];
  char *error = NULL;
  harn_sandbox *sandbox;
  sprintf(request, "{\"policy\": {}, \"%s\": \"%s\"}", member, tape);
  sandbox = harn_sandbox_open(request, &error);
  expect(sandbox != NULL, member, error);
  harn_free(error);
  return sandbox;
}

static void test_tape(void) {
  static const char command[] = "{\"argv\": [\"sh\", \"-c\", \"cat; echo ran >> taped; exit 4\"], \"input\": \"fed\"}";
  char tape[4096];
  char request[4200];
  char *error = NULL;
  harn_sandbox *sandbox;
  if (getcwd(tape, sizeof tape - 16) == NULL) return;
  strcat(tape, "/c.tape");
  unlink(tape);
  sandbox = open_with("record", tape);
  expect_in(harn_sandbox_run(sandbox, command, NULL, NULL, NULL), "\"exit_code\": 4, \"stdout\": \"fed\"", "a recorded run");
  harn_sandbox_close(sandbox);
  unlink("taped");
  snprintf(request, sizeof request, "{\"tape\": \"%s\"}", tape);
  expect_in(harn_tape_read(request), "\"torn\": false, \"repaired\": 0, \"records\": [{\"format\": \"harn.run_record.v2\"", "a tape");
  snprintf(request, sizeof request, "{\"tape\": \"%s\", \"exec\": 1}", tape);
  expect_in(harn_tape_read(request), "\"bytes\": \"fed\"", "one run of it");
  snprintf(request, sizeof request, "{\"tape\": \"%s\", \"exec\": 2}", tape);
  expect_in(harn_tape_read(request), "the tape has no exec 2", "no run of it");
  sandbox = open_with("replay", tape);
  expect_in(harn_sandbox_run(sandbox, "{\"argv\": [\"other\"]}", NULL, NULL, NULL), "argv (exec 1)", "another command");
  expect_in(harn_sandbox_run(sandbox, command, NULL, NULL, NULL), "\"exit_code\": 4, \"stdout\": \"fed\"", "a replayed run");
  expect(access("taped", F_OK) != 0, "nothing ran", NULL);
  expect_in(harn_sandbox_run(sandbox, command, NULL, NULL, NULL), "extra (exec 1)", "once more");
  harn_sandbox_close(sandbox);
  expect(harn_sandbox_open("{\"policy\": {}, \"replay\": \"/nonexistent/x\"}", &error) == NULL, "no tape", error);
  harn_free(error);
  error = NULL;
  expect(harn_sandbox_open("{\"policy\": {}, \"ignore\": [\"argw\"]}", &error) == NULL, "no such kind", error);
  harn_free(error);
  unlink(tape);
}

static void test_files(void) {
  char *error = NULL;
  harn_sandbox *sandbox = harn_sandbox_open("{\"policy\": {}}", &error);
  harn_files *files = harn_files_open(sandbox, &error);
  expect(files != NULL, "files of a sandbox", error);
  expect(harn_files_open(NULL, NULL) == NULL, "no sandbox, no files", NULL);
  expect_in(harn_files_do(files, "{\"operation\": \"write_text\", \"path\": \"made/f\", \"text\": {\"base64\": \"/w==\"}}"), "{}",
            "written");
  expect_in(harn_files_do(files, "{\"operation\": \"read_text\", \"path\": \"made/f\"}"), "{\"text\": {\"base64\": \"/w==\"}}",
            "read back");
  expect_in(harn_files_do(files, "{\"operation\": \"list\", \"path\": \"made\"}"), "{\"name\": \"f\", \"kind\": \"file\"}", "listed");
  expect_in(harn_files_do(files, "{\"operation\": \"exists\", \"path\": \"/etc/passwd\"}"), "\"category\": \"tool_rejected\"", "outside");
  expect_in(harn_files_do(files, "{\"operation\": \"exists\", \"path\": \"made\","
                                 " \"within\": [{\"policy\": {\"workspace_roots\": []}}]}"),
            "sandbox violation: 'exists'", "narrowed for one call");
  expect_in(harn_files_do(files, "{\"operation\": \"delete_tree\", \"path\": \"made\"}"), "{}", "deleted");
  expect_in(harn_files_do(files, "{\"operation\": \"exists\", \"path\": \"made\"}"), "{\"exists\": false}", "gone");
  expect_in(harn_files_do(files, "{\"operation\": \"chmod\", \"path\": \"made\"}"), "\"error\"", "no such operation");
  harn_files_close(files);
  harn_sandbox_close(sandbox);
}

static void test_stop(harn_executor *executor) {
  pthread_t thread;
  struct stopping stopping;
  harn_stop *stop = harn_stop_create();
  stopping.stop = stop;
  expect(stop != NULL, "a stop", NULL);
  pthread_create(&thread, NULL, stop_soon, &stopping);
  expect_in(harn_executor_execute(executor, "{\"command\": \"echo begun; sleep 60\"}", stop, NULL, NULL), "\"cancelled\": true", "it is ended");
  pthread_join(thread, NULL);
  harn_stop_free(stop);
}

static void test_executor(void) {
  int i;
  pthread_t threads[8];
  char *error = NULL;
  harn_executor *executor = harn_executor_create("{\"sandbox\": {\"max_memory_mb\": 64, \"blocked_commands\": [\"rm -rf\"]}}", &error);
  expect(executor != NULL, "an executor", error);
  if (executor == NULL) return;
  expect_in(harn_executor_describe(executor), "\"mode\": \"process\"", "what it is");
  expect_in(harn_executor_validate(executor, "rm -rf /"), "Command blocked by sandbox policy: contains 'rm -rf'", "blocked");
  expect_in(harn_executor_validate(executor, "ls"), "{\"blocked\": null}", "not blocked");
  expect_in(harn_executor_execute(executor, "{\"command\": \"rm -rf /\"}", NULL, NULL, NULL),
            "\"error\": \"Command blocked by sandbox policy: contains 'rm -rf'\"", "nor run");
  expect_in(harn_executor_execute(executor, "{\"command\": \"sleep 60\", \"timeout_ms\": 100}", NULL, NULL, NULL), "\"timed_out\": true", "time");
  test_stop(executor);
  for (i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, run_some, executor);
  for (i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  expect_in(harn_executor_cleanup(executor), "{}", "cleanup");
  expect_in(harn_executor_execute(executor, "{\"command\": \"true\"}", NULL, NULL, NULL), "cleaned up", "and over");
  harn_executor_free(executor);
}

/* What the process around the library must find as it was. */
/* Everything but the id; frees nothing. */
static void copy_id(const char *session, char *id, size_t room) {
  const char *start = strstr(session, "\"id\"");
  const char *end;
  id[0] = '\0';
  if (start == NULL) return;
  start = strchr(strchr(start, ':'), '"') + 1;
  end = strchr(start, '"');
  if (end != NULL && (size_t)(end - start) < room) {
    memcpy(id, start, (size_t)(end - start));
    id[end - start] = '\0';
  }
}

static void test_sessions(void) {
  char *error = NULL;
  char *made;
  char *snapshot;
  char id[80];
  char told[512] = "";
  harn_backend *backend = harn_backend_open("{\"backend\": \"none\"}", &error);
  expect(backend == NULL, "an unknown backend", NULL);
  expect_in(error, "names none", "why it cannot be opened");
  expect_in(harn_session_create(NULL, "{}"), "NULL", "a backend that is none");
  backend = harn_backend_open("{\"audit\": \"off\", \"profile\": \"worktree\"}", &error);
  expect(backend != NULL, "a backend is opened", error);
  harn_free(error);
  if (backend == NULL) return;
  expect_in(harn_backend_describe(backend), "\"local_process_sandbox\": true", "what it can");
  expect_in(harn_session_create(backend, "{\"typo\": 1}"), "\"kind\": \"json\"", "an unknown member");
  expect_in(harn_session_create(backend, "{\"session_id\": \"../x\"}"), "\"kind\": \"invalid_request\"", "an id that is none");
  made = harn_session_create(backend, "{\"labels\": {\"a\": \"b\"}}");
  expect(strstr(made, "\"state\": \"running\"") != NULL, "a session runs", made);
  copy_id(made, id, sizeof id);
  harn_free(made);
  expect_in(harn_session_exec(backend, id, "{\"command\": \"sh\", \"args\": [\"-c\", \"cat > file; echo told; exit 3\"], \"stdin\": \"x\"}", NULL,
                              collect, told),
            "\"exit_code\": 3", "a command in it");
  expect(strcmp(told, "<1:5>told\n") == 0, "its output as it comes", told);
  expect_in(harn_session_list(backend), id, "the list");
  snapshot = harn_session_snapshot(backend, id);
  expect(strstr(snapshot, "snapshot_id") != NULL, "a snapshot", snapshot);
  expect_in(harn_session_exec(backend, id, "{\"command\": \"rm\", \"args\": [\"file\"]}", NULL, NULL, NULL), "\"exit_code\": 0", "a change");
  expect_in(harn_session_restore(backend, id, snapshot), "\"state\": \"running\"", "it is brought back");
  harn_free(snapshot);
  expect_in(harn_session_exec(backend, id, "{\"command\": \"cat\", \"args\": [\"file\"]}", NULL, NULL, NULL), "\"stdout\": \"x\"", "as it was");
  expect_in(harn_session_mount(backend, id, "{\"source\": \"\", \"target\": \"/mnt/fresh\", \"access\": \"read_write\"}"), "/mnt/fresh", "a mount");
  expect_in(harn_session_network(backend, id, "{\"mode\": \"unrestricted\"}"), "\"kind\": \"unsupported\"", "no more network than it was made with");
  expect_in(harn_session_suspend(backend, id), "suspended", "it sleeps");
  expect_in(harn_session_resume(backend, id), "running", "it wakes");
  expect_in(harn_session_show(backend, id), "label.a", "one session");
  expect_in(harn_session_gc(backend), "\"cleared\": []", "nothing was left behind");
  expect_in(harn_session_terminate(backend, id), "{}", "its end");
  expect_in(harn_session_exec(backend, id, "{\"command\": \"true\"}", NULL, NULL, NULL), "\"kind\": \"session_not_found\"", "after its end");
  harn_backend_close(backend);
}

struct state {
  struct sigaction actions[64];
  sigset_t mask;
  char cwd[4096];
  mode_t mask_of_files;
  char **environment;
  size_t variables;
  int descriptors;
};

extern char **environ;

static void remember(struct state *state) {
  int number;
  memset(state, 0, sizeof *state);
  for (number = 1; number < 64; ++number) sigaction(number, NULL, &state->actions[number]);
  pthread_sigmask(SIG_SETMASK, NULL, &state->mask);
  if (getcwd(state->cwd, sizeof state->cwd) == NULL) abort();
  state->mask_of_files = umask(0);
  umask(state->mask_of_files);
  state->environment = environ;
  while (environ[state->variables] != NULL) ++state->variables;
  state->descriptors = count_descriptors();
}

static void compare(const struct state *before) {
  static struct state now;
  int number;
  remember(&now);
  for (number = 1; number < 64; ++number)
    expect(now.actions[number].sa_handler == before->actions[number].sa_handler, "signal actions stay", strsignal(number));
  for (number = 1; number < 64; ++number)
    expect(sigismember(&now.mask, number) == sigismember(&before->mask, number), "the signal mask stays", strsignal(number));
  expect(strcmp(now.cwd, before->cwd) == 0, "the directory stays", now.cwd);
  expect(now.mask_of_files == before->mask_of_files, "the umask stays", NULL);
  expect(now.environment == before->environment && now.variables == before->variables, "the environment stays", NULL);
  expect(now.descriptors == before->descriptors, "no descriptor is left", NULL);
}

int main(void) {
  static struct state before;
  umask(027);
  setenv("HARN_C_TEST", "1", 1);
  expect(harn_abi() == HARN_ABI, "header and library fit", NULL);
  expect(strlen(harn_version()) > 0, "a version", NULL);
  expect_in(harn_sandbox_active_backend(NULL), "{\"backend\": \"", "the backend");
  expect_in(harn_sandbox_backend_available(NULL), "{\"available\": ", "whether there is one");
  expect_in(harn_sandbox_active_profile(NULL), "{\"profile\": \"unrestricted\"}", "no policy");
  expect_in(harn_harness_config("{\"start\": \"/\"}"), "{\"found\": false}", "no configuration");
  remember(&before);
  test_errors();
  test_sandbox();
  test_tape();
  test_files();
  test_executor();
  test_sessions();
  compare(&before);
  if (failures == 0) puts("ok");
  return failures == 0 ? 0 : 1;
}
