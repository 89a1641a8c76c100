// SPDX-License-Identifier: Apache-2.0
// A command that only waits, as small as a program of this C library gets.
#include <unistd.h>

int main() { return ::pause(); }
