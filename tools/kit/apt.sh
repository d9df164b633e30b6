# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Packages of Debian's archive that this machine does not install: apt-get with its state in
# a directory of its own, so that the package sources of the machine stay as they are. The
# address of the archive is that of these sources, or DEBIAN_MIRROR. Settings such as a proxy
# are those of the machine.

# apt_in DIR COMMAND...: runs apt-get with its state and its cache in DIR
apt_in()
{
	local dir=$1
	shift
	apt-get -o Dir::State="$dir/state" -o Dir::State::status="$dir/status" \
		-o Dir::Cache="$dir/cache" -o APT::Sandbox::User="$(id -un)" \
		-o Debug::NoLocking=1 "$@"
}

# new_apt DIR: makes DIR for apt_in
new_apt()
{
	rm -rf "$1"
	mkdir -p "$1"/state/lists/partial "$1"/cache/archives/partial
	: > "$1/status"
}

# debian_source APT...: the address of the first package source that is the component main
# of Debian, and neither its security updates nor an archive of others. Nothing if there is
# none, or if APT, which is apt-get or apt_in DIR, has no lists. A CD-ROM has one release.
debian_source()
{
	# apt-get replaces these
	# shellcheck disable=SC2016
	"$@" indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' |
		awk -F '|' '$1 == "Debian" && $2 == "Debian" && $3 == "main" && $4 !~ /^cdrom:/ && !n++ {
			sub(/\/+$/, "", $4)
			print $4
		}'
}

# archive DIR: the address of Debian's archive. A machine whose apt has no lists, such as a
# new container, does not know what its sources are: then this reads the lists into DIR.
archive()
{
	local address=${DEBIAN_MIRROR:-}
	if [[ -z $address ]]; then address=$(debian_source apt-get); fi
	if [[ -z $address ]]; then
		new_apt "$1"
		# Fails if any source fails, not only Debian's
		apt_in "$1" -q -o Acquire::Languages=none update >&2 || :
		address=$(debian_source apt_in "$1")
	fi
	if [[ -z $address ]]; then
		echo "error: apt of this machine has no source with the component main of Debian" \
			"that can be read. Add one to /etc/apt/sources.list.d, or set" \
			"DEBIAN_MIRROR= to the address of an archive" >&2
		return 1
	fi
	echo "$address"
}

# own_apt DIR ARCH COMMAND...: runs apt-get for ARCH, with its state in DIR
own_apt()
{
	local dir=$1 arch=$2
	shift 2
	apt_in "$dir" -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- \
		-o APT::Architecture="$arch" -o APT::Architectures::="$arch" \
		-o APT::Install-Recommends=false "$@"
}

# own_apt_update DIR ARCH TYPE RELEASE...: makes DIR, and reads the lists of packages. TYPE
# is deb, or deb-src for sources. Only what Debian has signed is read, from any address.
own_apt_update()
{
	local dir=$1 arch=$2 type=$3 release address
	shift 3
	address=$(archive "$dir") || return
	new_apt "$dir"
	for release; do
		echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
			"$address $release main"
	done > "$dir/sources.list"
	# Otherwise apt-get succeeds without the lists if there is no network
	own_apt "$dir" "$arch" -q -o APT::Update::Error-Mode=any update || {
		echo "error: the archive cannot be read, or lacks one of these for $arch: $*." \
			"DEBIAN_MIRROR= names another archive" >&2
		return 1
	}
}

# unpack_packages DIR ARCH RELEASE TO PACKAGE...: unpacks packages of a release of Debian, with
# all that they depend on, to the directory TO. Maintainer scripts do not run. DIR is for the
# state of apt-get, and is removed.
unpack_packages()
{
	local dir=$1 arch=$2 release=$3 to=$4 deb
	shift 4
	own_apt_update "$dir" "$arch" deb "$release"
	own_apt "$dir" "$arch" -q -y --download-only install "$@"
	for deb in "$dir"/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$to" --keep-directory-symlink \
			--skip-old-files --no-same-owner --exclude='./usr/share/'{man,info,locale,lintian,bash-completion,bug}'/*'
	done
	rm -rf "$dir"
}
