/* SPDX-License-Identifier: Apache-2.0 */
/* executor_in_c CREATE COMMAND…: each request executed, its answer on a line of its own; then cleaned up. */
#include <stdio.h>

#include "harn.h"

int main(int argc, char** argv) {
  char* error = NULL;
  harn_executor* executor = argc > 1 ? harn_executor_create(argv[1], &error) : NULL;
  int i;
  if (executor == NULL) {
    fprintf(stderr, "%s\n", error == NULL ? "usage: executor_in_c CREATE COMMAND..." : error);
    harn_free(error);
    return 1;
  }
  for (i = 2; i < argc; ++i) {
    char* answer = harn_executor_execute(executor, argv[i], NULL, NULL, NULL);
    puts(answer);
    harn_free(answer);
  }
  harn_free(harn_executor_cleanup(executor));
  harn_executor_free(executor);
  return 0;
}
