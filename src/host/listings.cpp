// SPDX-License-Identifier: Apache-2.0
#include "host/listings.h"

#include <algorithm>
#include <cctype>

#include "host/resolve_paths.h"

namespace harn::host {
namespace {

constexpr std::size_t most_listings = 16;      // every path is compared with each
constexpr std::size_t longest_listing = 2048;  // a longer directory costs more to read than to ask
constexpr std::size_t longest_search = 65536;  // where there is no asking, because the names are not known

char other_case(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return static_cast<char>(std::islower(byte) != 0 ? std::toupper(byte) : std::tolower(byte));
}

}  // namespace

sys::FileType Listings::Listing::type(std::string_view name) const {
  const auto at = std::ranges::lower_bound(entries, name, {}, [](const sys::Entry& entry) { return std::string_view(entry.name); });
  return at != entries.end() && at->name == name ? at->type : sys::FileType::missing;
}

// A name that is not listed and yet is there, because another spelling of it is.
bool Listings::Listing::ignores_case() const {
  for (const auto& entry : entries) {
    auto other = entry.name;
    std::ranges::transform(other, other.begin(), other_case);
    if (type(other) != sys::FileType::missing) continue;
    return sys::type_of(directory.join(other)) != sys::FileType::missing;
  }
  return false;
}

void Listings::add(const AbsPath& directory) {
  const auto same = [&](const Listing& listing) { return listing.directory == directory; };
  if (listings_.size() == most_listings || std::ranges::any_of(listings_, same)) return;
  auto entries = sys::list_entries(directory, longest_listing);
  if (!entries) return;
  Listing listing{.directory = directory, .entries = std::move(*entries)};
  if (listing.ignores_case()) return;
  const auto longer = [&](const Listing& other) { return other.directory.text().size() > directory.text().size(); };
  listings_.insert(std::ranges::find_if_not(listings_, longer), std::move(listing));
}

// The deepest directory decides: what lies above it is there, or it could not have been read.
bool Listings::known_absent(std::string_view path) const {
  for (const auto& listing : listings_) {
    const std::string_view above = listing.directory.text();
    const auto from = above.size() == 1 ? 1 : above.size() + 1;
    if (path.size() <= from || path[from - 1] != '/' || !path.starts_with(above)) continue;
    const auto rest = path.substr(from);
    return listing.type(rest.substr(0, rest.find('/'))) == sys::FileType::missing;
  }
  return false;
}

std::optional<std::vector<AbsPath>> Listings::directories_in(const AbsPath& directory) const {
  std::vector<sys::Entry> read_now;
  const auto listing = std::ranges::find(listings_, directory, &Listing::directory);
  if (listing == listings_.end()) {
    auto entries = sys::list_entries(directory, longest_search);
    if (!entries) return std::nullopt;
    read_now = std::move(*entries);
  }
  std::vector<AbsPath> found;
  // Not every file system tells the type; then the name itself is asked.
  for (const auto& entry : listing == listings_.end() ? read_now : listing->entries) {
    const bool told = entry.type == sys::FileType::directory;
    if (!told && entry.type != sys::FileType::other) continue;
    auto path = directory.join(entry.name);
    if (told || sys::type_of(path) == sys::FileType::directory) found.push_back(std::move(path));
  }
  return found;
}

PathFact Listings::look(const AbsPath& path) const {
  if (known_absent(path.text())) return {};
  const auto above = path.parent();
  const auto listing = std::ranges::find(listings_, above, &Listing::directory);
  if (listing == listings_.end() || path.is_root()) return look_at(path);
  const auto type = listing->type(path.name());
  if (type == sys::FileType::directory) return {.kind = PathKind::directory};
  if (type == sys::FileType::file) return {.kind = PathKind::file};
  return look_at(path);
}

}  // namespace harn::host
