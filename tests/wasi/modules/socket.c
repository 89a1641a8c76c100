/* SPDX-License-Identifier: Apache-2.0
 * Preview 1 cannot open a connection, but WasmEdge can: its own call, for a stream over IPv4. */
#include <stdio.h>

__attribute__((import_module("wasi_snapshot_preview1"), import_name("sock_open"))) unsigned sock_open(unsigned family, unsigned type, unsigned *fd);

int main(void) {
  unsigned fd = 0;
  unsigned error = sock_open(1, 2, &fd);
  printf("socket: %u\n", error);
  return error == 0 ? 0 : 7;
}
