#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# as_user.sh TEST HARN: runs a test of this directory as nobody, from copies nobody may read.
set -eu
place=$(mktemp -d /var/tmp/harn-user.XXXXXX)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
cp "$(dirname "$0")"/*.py "$2" "$place"
cp "$(dirname "$1")"/*.py "$place"
chmod -R a+rX "$place"
cd "$place"
setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -B "$place/$(basename "$1")" "$place/$(basename "$2")"
