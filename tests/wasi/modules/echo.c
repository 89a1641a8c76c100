/* SPDX-License-Identifier: Apache-2.0
 * Its words, its input and its variables, byte for byte. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int i, c;
  for (i = 1; i < argc; ++i) printf("%s\n", argv[i]);
  while ((c = getchar()) != EOF) putchar(c);
  if (getenv("A") != NULL) printf("A=%s\n", getenv("A"));
  fprintf(stderr, "to stderr\n");
  return argc;
}
