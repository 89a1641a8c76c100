/* SPDX-License-Identifier: Apache-2.0 */
int main(void) {
  volatile unsigned long turns = 0;
  for (;;) ++turns;
}
