// SPDX-License-Identifier: Apache-2.0
// The words of the audit log.
#pragma once

#include "base/enum_names.h"
#include "harn/audit.h"

template <>
struct harn::base::EnumNames<harn::AuditEventType> {
  using T = harn::AuditEventType;
  static constexpr std::array names{
      std::pair{T::policy_loaded, std::string_view("policy_loaded")},
      std::pair{T::policy_narrowed, std::string_view("policy_narrowed")},
      std::pair{T::plan_made, std::string_view("plan_made")},
      std::pair{T::sandbox_fallback, std::string_view("sandbox_fallback")},
      std::pair{T::sandbox_refused, std::string_view("sandbox_refused")},
      std::pair{T::exec_started, std::string_view("exec_started")},
      std::pair{T::exec_finished, std::string_view("exec_finished")},
      std::pair{T::denial, std::string_view("denial")},
      std::pair{T::session_provisioned, std::string_view("session_provisioned")},
      std::pair{T::session_mounted, std::string_view("session_mounted")},
      std::pair{T::session_network_applied, std::string_view("session_network_applied")},
      std::pair{T::session_suspended, std::string_view("session_suspended")},
      std::pair{T::session_resumed, std::string_view("session_resumed")},
      std::pair{T::session_snapshot, std::string_view("session_snapshot")},
      std::pair{T::session_terminated, std::string_view("session_terminated")},
      std::pair{T::egress_allowed, std::string_view("egress_allowed")},
      std::pair{T::egress_denied, std::string_view("egress_denied")},
      std::pair{T::ask_answered, std::string_view("ask_answered")},
      std::pair{T::log_repaired, std::string_view("log_repaired")},
      std::pair{T::log_pruned, std::string_view("log_pruned")},
      std::pair{T::log_sealed, std::string_view("log_sealed")},
  };
};

template <>
struct harn::base::EnumNames<harn::AuditMode> {
  using T = harn::AuditMode;
  static constexpr std::array names{
      std::pair{T::off, std::string_view("off")},
      std::pair{T::process, std::string_view("process")},
      std::pair{T::power, std::string_view("power")},
  };
};
