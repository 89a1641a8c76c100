// SPDX-License-Identifier: Apache-2.0
#include "capi/answer_files.h"

#include "base/json.h"
#include "plan/json_fields.h"

namespace harn::capi {
namespace {

std::string_view name_of(EntryKind kind) {
  switch (kind) {
    case EntryKind::file: return "file";
    case EntryKind::directory: return "directory";
    case EntryKind::link: return "link";
    case EntryKind::other: break;
  }
  return "other";
}

base::Value in_text(const std::string& bytes) { return plan::Json<std::string>::write(bytes); }

}  // namespace

Result<std::string> answer_file(const FileScope& files, const FileRequest& request) {
  base::Value out{base::Object{}};
  switch (request.operation) {
    case FileOperation::read_text: {
      HARN_TRY(text, files.read_text(request.path, request.max_bytes));
      out.set("text", in_text(text));
      break;
    }
    case FileOperation::list: {
      HARN_TRY(entries, files.list(request.path));
      base::Array list;
      for (const auto& entry : entries) {
        base::Value item;
        item.set("name", in_text(entry.name));
        item.set("kind", name_of(entry.kind));
        list.push_back(std::move(item));
      }
      out.set("entries", std::move(list));
      break;
    }
    case FileOperation::exists: {
      HARN_TRY(exists, files.exists(request.path));
      out.set("exists", exists);
      break;
    }
    case FileOperation::write_text: HARN_OK(files.write_text(request.path, request.text)); break;
    case FileOperation::delete_: HARN_OK(files.remove(request.path)); break;
    case FileOperation::delete_tree: HARN_OK(files.remove_tree(request.path)); break;
  }
  return base::print_json(out);
}

}  // namespace harn::capi
