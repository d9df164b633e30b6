# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The pristine source of a base: where it is, and how to unpack it; and Debian's configuration.

. "$KIT/apt.sh"

SOURCES=$SHARED/sources
# Where Debian has the packages linux-source-*
SOURCE_RELEASES=(trixie trixie-backports sid)

# packaged BASE: the tarball of an installed package of Debian, or a package that was fetched
packaged()
{
	local package=linux-source-$1
	if [[ -f /usr/src/$package.tar.xz ]]; then
		echo "/usr/src/$package.tar.xz"
	else
		echo "$SOURCES/$package.deb"
	fi
}

# find_source BASE: prints the path of a tree, a tarball or a package. Fetches the package
# from Debian's archive if this machine does not have it.
find_source()
{
	local source
	source=$(packaged "$1")
	if [[ ! -e $source ]]; then
		mkdir -p "$SOURCES"
		fetch "linux-source-$1" 8> "$SOURCES/.lock-$1"
	fi
	realpath "$source"
}

# fetch PACKAGE: fetches it, unless that has been done. The caller opens the lock.
fetch()
{
	flock 8
	[[ ! -e $SOURCES/$1.deb ]] || return 0
	logged "fetching $1" "$SOURCES/$1.log" fetch_package "$1"
}

# fetch_package NAME: downloads the package to SOURCES
fetch_package()
{
	local package=$1 dir=$SOURCES/apt-$1 arch
	arch=$(dpkg --print-architecture)
	own_apt_update "$dir" "$arch" deb "${SOURCE_RELEASES[@]}"
	(cd "$dir" && own_apt "$dir" "$arch" -q download "$package")
	mv "$dir/$package"_*.deb "$SOURCES/$package.deb"
	rm -rf "$dir"
}

# debian_config BASE: prints Debian's configuration of the base for amd64. Fetches its package
# from Debian's archive.
debian_config()
{
	local package=linux-config-$1
	mkdir -p "$SOURCES"
	fetch "$package" 8> "$SOURCES/.lock-$package" >&2
	dpkg-deb --fsys-tarfile "$SOURCES/$package.deb" |
		tar -xO "./usr/src/$package/config.amd64_none_amd64.xz" | xz -dc
}

# unpack SOURCE DIR [LIST]: copies SOURCE, a tree, a tarball or a package, to DIR, or only
# the files that the file LIST names, as far as they exist
unpack()
{
	local list=${3:-} some=()
	rm -rf "$2"
	mkdir -p "$2"
	if [[ -d $1 ]]; then
		if [[ -n $list ]]; then some=(--ignore-missing-args --files-from="$list"); fi
		rsync -a --exclude=/.git "${some[@]}" "$1/" "$2/"
	elif [[ -n $list ]]; then
		# tar fails if a file does not exist
		sed 's,^,*/,' "$list" > "$2.members"
		tarball "$1" | tar -x -C "$2" --strip-components=1 --wildcards \
			--no-wildcards-match-slash --anchored -T "$2.members" || :
		rm -f "$2.members"
	else
		tarball "$1" | tar -x -C "$2" --strip-components=1
	fi
	[[ -f $2/Makefile ]] || { echo "error: $1 contains no kernel source"; return 1; }
}

# tarball SOURCE: the tar archive of a tarball or a package, not compressed
tarball()
{
	case $1 in
	*.deb)
		dpkg-deb --fsys-tarfile "$1" |
			tar -xO --wildcards './usr/src/linux-source-*.tar.xz' | xz -dc -T 0
		;;
	*.xz) xz -dc -T 0 "$1" ;;
	*.gz | *.tgz) gzip -dc "$1" ;;
	*.bz2) bzip2 -dc "$1" ;;
	*.zst) zstd -dc "$1" ;;
	*) cat "$1" ;;
	esac
}
