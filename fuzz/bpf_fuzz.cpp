// SPDX-License-Identifier: Apache-2.0
// Any filter, however odd, either compiles to a program the kernel would take and that means what the
// filter says, or is refused; and translating it to a container profile ends.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fuzzer/FuzzedDataProvider.h>

#include "harn_syscall_assets.h"
#include "plan/syscalls/bpf.h"
#include "plan/syscalls/seccomp_json.h"
#include "support/bpf_machine.h"
#include "support/syscall_model.h"

namespace {

using namespace harn;

SyscallAction take_action(FuzzedDataProvider& bytes) { return static_cast<SyscallAction>(bytes.ConsumeIntegralInRange(0, 3)); }

ArgumentTest take_test(FuzzedDataProvider& bytes) {
  ArgumentTest test{.index = bytes.ConsumeIntegralInRange<unsigned>(0, 6)};
  test.compare = static_cast<Compare>(bytes.ConsumeIntegralInRange(0, 5));
  if (bytes.ConsumeBool()) test.mask = bytes.ConsumeIntegral<std::uint64_t>();
  test.value = bytes.ConsumeBool() ? bytes.ConsumeIntegral<std::uint64_t>() : bytes.ConsumeIntegral<std::uint8_t>();
  return test;
}

SyscallRule take_rule(FuzzedDataProvider& bytes) {
  SyscallRule rule{.action = take_action(bytes), .error = bytes.ConsumeIntegralInRange(0, 4096)};
  for (int i = bytes.ConsumeIntegralInRange(0, 6); i > 0; --i) rule.names.emplace_back(bytes.PickValueInArray(plan::tables::numbers).name);
  for (int i = bytes.ConsumeIntegralInRange(0, 4); i > 0; --i) rule.when.push_back(take_test(bytes));
  return rule;
}

SyscallFilter take_filter(FuzzedDataProvider& bytes) {
  SyscallFilter filter{.arch = std::string(bytes.PickValueInArray(plan::tables::architectures)),
                       .otherwise = take_action(bytes),
                       .otherwise_error = bytes.ConsumeIntegralInRange(1, 4095)};
  for (int i = bytes.ConsumeIntegralInRange(0, 40); i > 0; --i) filter.rules.push_back(take_rule(bytes));
  return filter;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  const SyscallFilter filter = take_filter(bytes);
  const auto profile = plan::seccomp_json(filter);
  const auto program = plan::compile_filter(filter);
  if (!program) return 0;
  if (!profile || !test::why_invalid(*program).empty()) std::abort();
  test::Random random(bytes.ConsumeIntegral<std::uint64_t>());
  for (const SyscallRule& rule : filter.rules)
    for (const std::string& name : rule.names) {
      const auto event = test::random_event(random, filter, *test::number_of(name, filter.arch));
      if (test::execute(*program, event).verdict != test::meaning(filter, event)) std::abort();
    }
  return 0;
}
