// SPDX-License-Identifier: Apache-2.0
// How every function of the C ABI answers: in JSON, and no exception passes.
#pragma once

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "harn.h"
#include "harn/embed.h"

struct harn_stop {
  harn::Stop stop;
};

namespace harn::capi {

extern const char* const out_of_memory;

// malloc, so that harn_free() is free() whichever way C++ is linked.
char* handed_over(std::string_view text);
std::string error_text(const Error& error);
Error thrown(const char* what);
Error no_object();
OutputSink sink_for(harn_output output, void* user);
// The log of `harn run`, unless the program wants none.
std::unique_ptr<AuditLog> log_for(std::optional<AuditMode> asked, Profile profile, Context& context);

// A function that answers with text or an error.
template <class Work>
char* answer(Work work) noexcept {
  try {
    const Result<std::string> text = work();
    return handed_over(text ? *text : error_text(text.error()));
  } catch (const std::bad_alloc&) {
    return handed_over(out_of_memory);
  } catch (const std::exception& problem) {
    return handed_over(error_text(thrown(problem.what())));
  } catch (...) {
    return handed_over(error_text(thrown("an unknown exception")));
  }
}

// A function that makes an object, or says why not.
template <class Object, class Work>
Object* make(char** error, Work work) noexcept {
  if (error != nullptr) *error = nullptr;
  Object* made = nullptr;
  char* text = answer([&]() -> Result<std::string> {
    Result<std::unique_ptr<Object>> object = work();
    if (!object) return fail(std::move(object).error());
    made = object->release();
    return std::string();
  });
  if (made != nullptr || error == nullptr) std::free(text);
  else *error = text;
  return made;
}

}  // namespace harn::capi
