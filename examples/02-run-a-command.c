/* SPDX-License-Identifier: Apache-2.0
 * The same from C: JSON in, JSON out, and output told as it comes. */
#include <stdio.h>
#include <string.h>

#include "harn.h"

static void told(void *user, int stream, const char *bytes, size_t size) {
  (void)user;
  printf("stream %d: %.*s", stream, (int)size, bytes);
}

int main(void) {
  char *error = NULL;
  char *result = NULL;
  int right = 0;
  harn_executor *executor = harn_executor_create("{\"sandbox\": {\"max_memory_mb\": 64, \"blocked_commands\": [\"curl\"]}}", &error);
  if (executor == NULL) {
    fprintf(stderr, "%s\n", error);
    harn_free(error);
    return 1;
  }
  result = harn_executor_execute(executor, "{\"command\": \"echo out; echo err >&2\", \"timeout_ms\": 10000}", NULL, told, NULL);
  right = strstr(result, "\"success\": true") != NULL;
  printf("success: %d\n", right);
  harn_free(result);
  result = harn_executor_validate(executor, "c''url example.org");
  puts(result);
  harn_free(result);
  harn_executor_free(executor);
  return right ? 0 : 1;
}
