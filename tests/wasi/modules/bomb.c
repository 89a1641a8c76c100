/* SPDX-License-Identifier: Apache-2.0
 * Takes memory a mebibyte at a time and uses all of it, up to a gibibyte. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int taken = 0;
  for (; taken < 1024; ++taken) {
    volatile char *piece = malloc(1 << 20);
    int at;
    if (piece == NULL) break;
    for (at = 0; at < 1 << 20; at += 512) piece[at] = 1;
  }
  printf("%d\n", taken);
  return taken == 1024 ? 0 : 1;
}
