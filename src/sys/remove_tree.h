// SPDX-License-Identifier: Apache-2.0
// Removing a directory somebody hostile has filled: no link is followed, no name is looked up twice,
// and no depth runs us out of descriptors.
#pragma once

namespace harn::sys {

// Empties the open directory. What cannot be removed stays; answers whether all of it is gone.
bool empty_directory(int directory);

}  // namespace harn::sys
