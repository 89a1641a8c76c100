// SPDX-License-Identifier: Apache-2.0
#include "plan/wasi/runtimes.h"

#include <array>

#include "harn_wasi_assets.h"

namespace harn::plan {
namespace {

using Word = std::string_view;

// wasmtime: HOST::GUEST; read-only directories cannot be named.
constexpr std::array wasmtime_options{Word("run")};
constexpr std::array wasmtime_preopen{Word("--dir={host}::{guest}")};
constexpr std::array wasmtime_variable{Word("--env={name}={value}")};

// WasmEdge: GUEST:HOST[:readonly]. A module may carry native code compiled ahead of time, and would run it: never that.
constexpr std::array wasmedge_options{Word("--force-interpreter")};
constexpr std::array wasmedge_preopen{Word("--dir"), Word("{guest}:{host}")};
constexpr std::array wasmedge_read_only{Word("--dir"), Word("{guest}:{host}:readonly")};
constexpr std::array wasmedge_variable{Word("--env"), Word("{name}={value}")};

constexpr std::array wasmer_options{Word("run")};
constexpr std::array wasmer_preopen{Word("--mapdir"), Word("{guest}:{host}")};
constexpr std::array wasmer_variable{Word("--env"), Word("{name}={value}")};
constexpr std::array wasmer_before_arguments{Word("--")};

// iwasm (WAMR): GUEST::HOST. Interpreted; an AOT file is no module, and is refused before.
constexpr std::array iwasm_preopen{Word("--map-dir={guest}::{host}")};
constexpr std::array iwasm_variable{Word("--env={name}={value}")};

// Node calls its own WASI no boundary, and follows links out of its directories: here the sandbox around it is the boundary, and Node gets
// no variable that means something to it.
constexpr std::array node_options{Word("--no-warnings"),
                                  Word("--experimental-wasi-unstable-preview1"),
                                  Word("--no-addons"),
                                  Word("--disable-proto=delete"),
                                  Word("-e"),
                                  assets::run_module,
                                  Word("--")};

constexpr WasiRuntime table[] = {
    {.name = "wasmtime",
     .program = "wasmtime",
     .options = wasmtime_options,
     .preopen = wasmtime_preopen,
     .variable = wasmtime_variable,
     .separator = "::"},
    {.name = "wasmedge",
     .program = "wasmedge",
     .options = wasmedge_options,
     .preopen = wasmedge_preopen,
     .read_only = wasmedge_read_only,
     .variable = wasmedge_variable,
     .separator = ":"},
    {.name = "wasmer",
     .program = "wasmer",
     .options = wasmer_options,
     .preopen = wasmer_preopen,
     .variable = wasmer_variable,
     .before_arguments = wasmer_before_arguments,
     .separator = ":"},
    {.name = "iwasm", .program = "iwasm", .preopen = iwasm_preopen, .variable = iwasm_variable, .separator = "::"},
    {.name = "node", .program = "node", .options = node_options, .boundary = false, .described = true},
};

}  // namespace

std::span<const WasiRuntime> wasi_runtimes() { return table; }

}  // namespace harn::plan
