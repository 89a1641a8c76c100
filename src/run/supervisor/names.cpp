// SPDX-License-Identifier: Apache-2.0
// Names that come into being, move or cease.
#include <fcntl.h>
#include <linux/fs.h>

#include "run/supervisor/calls.h"

namespace harn::run::supervisor {
namespace {

// As the caller spelled it: a slash after a name that is no directory is an error the kernel words.
const char* spelled(Place& place) {
  if (place.slash) place.name.add("/");
  return place.name.c_str();
}

Word find_new(const Request& request, At at, Place& place) {
  if (const Word result = find(request, at, Last::keep, place); result < 0) return result;
  if (place.exists) return -EEXIST;
  return may_change_name(request, place) ? 0 : refuse();
}

// A link where names beneath it are closed would give them another content: what it leads to.
bool may_be_link(const Request& request, const Place& place) { return !request.closed_beneath(place.path.view()); }

// A directory takes everything beneath it along: away from where the rules are, or to where they are.
bool may_carry(const Request& request, const Place& moved, const Place& to) {
  if (S_ISLNK(moved.mode)) return may_be_link(request, to);
  if (!S_ISDIR(moved.mode)) return true;
  return !request.closed_beneath(moved.path.view()) && !request.closed_beneath(to.path.view());
}

}  // namespace

Word find(const Request& request, At at, Last last, Place& place) {
  static PathText path;
  if (const Word result = request.caller.read_text(at.path, path); result < 0) return result;
  const Word result = walk(request.caller, at.start, path.view(), last, place);
  request.note(place);
  return result;
}

bool may_change_name(const Request& request, const Place& place) {
  return place.end == End::name && request.at(place.path.view()) == Allowed::changing &&
         request.at(place.around.view()) == Allowed::changing;
}

bool is_nameless(const Place& place) {
  const auto path = place.path.view();
  return place.end == End::object && (path.starts_with("pipe:[") || path.starts_with("socket:[") || path.starts_with("/memfd:"));
}

Word take_umask(const Request& request) {
  const Word mask = request.umasks.of(request.caller);
  return mask < 0 ? refuse() : raw_syscall(SYS_umask, mask);
}

Word make_directory(const Request& request, At at, unsigned mode) {
  Place place;
  if (const Word result = find_new(request, at, place); result < 0) return result;
  if (const Word result = take_umask(request); result < 0) return result;
  return raw_syscall(SYS_mkdirat, place.directory.get(), word_of(spelled(place)), mode);
}

// The filter has refused devices already; they are refused again.
Word make_node(const Request& request, At at, unsigned mode) {
  if (S_ISCHR(mode) || S_ISBLK(mode) || lends_rights(S_IFREG, mode)) return -EPERM;
  Place place;
  if (const Word result = find_new(request, at, place); result < 0) return result;
  if (const Word result = take_umask(request); result < 0) return result;
  return raw_syscall(SYS_mknodat, place.directory.get(), word_of(spelled(place)), mode, 0);
}

Word make_link(const Request& request, std::uint64_t target, At at) {
  static PathText text;
  if (const Word result = request.caller.read_text(target, text); result < 0) return result;
  Place place;
  if (const Word result = find_new(request, at, place); result < 0) return result;
  if (!may_be_link(request, place)) return refuse();
  return raw_syscall(SYS_symlinkat, word_of(text.c_str()), place.directory.get(), word_of(spelled(place)));
}

// Who may not change the file under its present name shall not get another one for it.
Word make_hard_link(const Request& request, At from, At to, unsigned flags) {
  if ((flags & ~static_cast<unsigned>(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) != 0) return -EINVAL;
  Place source;
  static PathText path;
  if (const Word result = request.caller.read_text(from.path, path); result < 0) return result;
  const bool held = path.view().empty() && (flags & AT_EMPTY_PATH) != 0 && from.start != AT_FDCWD;
  const auto last = (flags & AT_SYMLINK_FOLLOW) != 0 ? Last::follow : Last::keep;
  const Word found =
      held ? walk_descriptor(request.caller, from.start, source) : walk(request.caller, from.start, path.view(), last, source);
  request.note(source);
  if (found < 0) return found;
  if (!source.exists) return -ENOENT;
  if (S_ISDIR(source.mode)) return -EPERM;
  Place place;
  if (const Word result = find_new(request, to, place); result < 0) return result;
  if (request.at(source.path.view()) != Allowed::changing) return refuse();
  if (S_ISLNK(source.mode) && !may_be_link(request, place)) return refuse();
  Fd object;
  if (const Word result = hold(source, object); result < 0) return result;
  ShortText link;
  return raw_syscall(SYS_linkat, AT_FDCWD, word_of(own_descriptor(object.get(), link).c_str()), place.directory.get(),
                     word_of(spelled(place)), AT_SYMLINK_FOLLOW);
}

Word remove(const Request& request, At at, unsigned flags) {
  if ((flags & ~static_cast<unsigned>(AT_REMOVEDIR)) != 0) return -EINVAL;
  const bool directory = flags != 0;
  Place place;
  if (const Word result = find(request, at, Last::keep, place); result < 0) return result;
  if (place.end == End::above) return directory ? -ENOTEMPTY : -EISDIR;
  if (place.end == End::self) return directory ? -EINVAL : -EISDIR;
  if (!place.exists) return -ENOENT;
  if (!may_change_name(request, place)) return refuse();
  return raw_syscall(SYS_unlinkat, place.directory.get(), word_of(spelled(place)), flags);
}

Word rename(const Request& request, At from, At to, unsigned flags) {
  constexpr unsigned known = RENAME_NOREPLACE | RENAME_EXCHANGE;
  if ((flags & RENAME_WHITEOUT) != 0) return -EPERM;  // a device node
  if ((flags & ~known) != 0 || flags == known) return -EINVAL;
  const bool exchange = flags == RENAME_EXCHANGE;
  Place source;
  Place target;
  if (const Word result = find(request, from, Last::keep, source); result < 0) return result;
  if (const Word result = find(request, to, Last::keep, target); result < 0) return result;
  if (source.end != End::name || target.end != End::name) return -EBUSY;
  if (!source.exists || (exchange && !target.exists)) return -ENOENT;
  if (flags == RENAME_NOREPLACE && target.exists) return -EEXIST;
  if (!may_change_name(request, source) || !may_change_name(request, target)) return refuse();
  if (!may_carry(request, source, target) || (exchange && !may_carry(request, target, source))) return refuse();
  return raw_syscall(SYS_renameat2, source.directory.get(), word_of(spelled(source)), target.directory.get(), word_of(spelled(target)),
                     flags);
}

}  // namespace harn::run::supervisor
