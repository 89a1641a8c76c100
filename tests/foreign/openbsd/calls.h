/* SPDX-License-Identifier: Apache-2.0 */
/* The two calls of OpenBSD's unistd.h, for building its applier on Linux against the shim. */
#pragma once
extern "C" int unveil(const char* path, const char* permissions);
extern "C" int pledge(const char* promises, const char* execpromises);
