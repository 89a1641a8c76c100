// SPDX-License-Identifier: Apache-2.0
// One hostile act and what must become of it, as a row of a promise's table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace harn::confine {

// Which callers the act succeeds for while nothing confines it.
enum class Control : unsigned char {
  everybody,
  root,  // needs rights only root has outside
  user,  // gains nothing for root
  none,  // cannot be shown here; `why` says so
};

struct Case {
  std::string_view id = {};  // unique within its promise; the directory {own} is made for it alone
  std::string_view probe = {};
  // {own} {work} {home} {shared} {temp} {outside} and what the victim says about itself: {pid} {tcp} …
  std::vector<std::string> args = {};
  std::string_view view = {};          // words that refuse it: "EACCES EPERM"; "ok" = allowed, and nobody outside notices
  std::string_view bare = {};          // the same without user namespaces
  std::string_view old_kernel = {};    // … and before Landlock ABI 2; as `bare` when empty
  std::string_view unsupervised = {};  // … and with no supervisor either; as `bare` when empty
  std::string_view bubblewrap = {};    // words that are right there besides: it has a network and an init of its own
  std::string_view container = {};     // … and in a container, whose image has a system of its own
  std::string_view gap = {};           // "dimension/code": without user namespaces the receipt may excuse it by this
  std::string_view view_gap = {};      // the same excuse, where even the view has none
  std::string gap_path = {};           // what the gap must cover; args[0] when empty
  std::string_view counter = {};       // of the victim: must rise in the control run and stay 0 inside
  std::string private_to_it = {};      // a path that must not exist outside afterwards
  Control control = Control::everybody;
  bool for_everybody = false;       // refused to every caller, though only root can show the control
  std::string_view why = {};        // with Control::none; also where success is an error that comes after the permission
  bool critical = false;            // must stay refused with any one layer switched off …
  std::string_view only_lock = {};  // … except this one, as docs/threat-model.md says
};

class Scene;
struct Extras;

struct Promise {
  std::string_view name = {};  // of the test suite
  std::span<const Case> cases = {};
  Extras (*extras)(Scene& scene) = nullptr;  // what the launcher is given besides; see stand.h
};

// Registers one test per caller and way of confining. To be called while static objects are made.
bool promise(Promise promise);

}  // namespace harn::confine
