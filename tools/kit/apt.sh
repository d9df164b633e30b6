# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Packages of Debian's archive that this machine does not install: apt-get with its state in
# a directory of its own, so that the package sources of the machine stay as they are.

MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

# own_apt DIR ARCH COMMAND...: runs apt-get for ARCH, with its state in DIR
own_apt()
{
	local dir=$1 arch=$2
	shift 2
	apt-get -o Dir::State="$dir/state" -o Dir::State::status="$dir/status" \
		-o Dir::Cache="$dir/cache" -o Dir::Etc::sourcelist="$dir/sources.list" \
		-o Dir::Etc::sourceparts=- -o APT::Architecture="$arch" \
		-o APT::Architectures::="$arch" -o APT::Install-Recommends=false \
		-o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 "$@"
}

# own_apt_update DIR ARCH TYPE RELEASE...: makes DIR, and reads the lists of packages. TYPE
# is deb, or deb-src for sources.
own_apt_update()
{
	local dir=$1 arch=$2 type=$3 release
	shift 3
	rm -rf "$dir"
	mkdir -p "$dir"/state/lists/partial "$dir"/cache/archives/partial
	: > "$dir/status"
	for release; do
		echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
			"$MIRROR $release main"
	done > "$dir/sources.list"
	# Otherwise apt-get succeeds without the lists if there is no network
	own_apt "$dir" "$arch" -q -o APT::Update::Error-Mode=any update
}
