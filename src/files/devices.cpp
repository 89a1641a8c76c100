// SPDX-License-Identifier: Apache-2.0
#include "files/devices.h"

#include <algorithm>
#include <array>

namespace harn::files {
namespace {

struct Row {
  std::string_view path;
  StandardDevice device;
  bool read;
  bool write;
};

constexpr std::array rows = {
    Row{"/dev/null", StandardDevice::null, true, true},     Row{"/dev/stdin", StandardDevice::input, true, false},
    Row{"/dev/stdout", StandardDevice::output, true, true}, Row{"/dev/stderr", StandardDevice::error, true, true},
    Row{"/dev/fd/0", StandardDevice::input, true, true},    Row{"/dev/fd/1", StandardDevice::output, true, true},
    Row{"/dev/fd/2", StandardDevice::error, true, true},
};

}  // namespace

std::optional<StandardDevice> standard_device(std::string_view path, FileOp op) {
  const auto* row = std::ranges::find(rows, path, &Row::path);
  if (row == rows.end()) return std::nullopt;
  if (op == FileOp::read ? !row->read : op == FileOp::write ? !row->write : true) return std::nullopt;
  return row->device;
}

}  // namespace harn::files
