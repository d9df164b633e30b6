# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Our changes to the kernel: the overlay (new files, at the paths they have in
# the kernel tree) and the patches to existing files. A patch file is
#
#	Subject: subsystem: summary
#
#	changelog
#
#	New-file: path		(any number: overlay files or directories
#	New-file: path		 that belong to this step)
#	---
#	diff			(may be missing)

# patches/series lists the patch files in order. Each folder of patches is a series of its
# own, which applies on top of the series before it. A line may end with the bases that need
# the patch: "6.12..7.2", "..7.2" or "7.0..", both included. All bases need the others.
#
# A patch is written for the newest base. If it has to differ for an older base, the file
# NAME@6.12.diff beside NAME.patch has the diff for the bases up to 6.12, or
# NAME@6.12.patch, if the text has to differ, too.

# All options are in one menu, the Kconfig file at the top of this repository. It is
# copied to $MENU in the kernel tree, and kernel/trace/Kconfig sources it there.

OVERLAY_DIRS=(arch kernel include Documentation tools samples)
MENU=kernel/trace/Kconfig.shared
FUZZ=2

# series_lines: patches/series without comments
series_lines()
{
	[[ -f $TOP/patches/series ]] || return 0
	sed -E '/^[[:space:]]*(#|$)/d' "$TOP/patches/series"
}

# series: the patch files that the base needs in order, as paths
series()
{
	local file bases
	while read -r file bases; do
		if [[ -z $bases ]] || needed "$bases"; then echo "$TOP/patches/$file"; fi
	done < <(series_lines)
}

# needed BASES: true if the base is one of BASES, such as "6.12..7.2"
needed()
{
	local from=${1%%..*} to=${1##*..}
	[[ $1 =~ ^([0-9]+\.[0-9]+)?\.\.([0-9]+\.[0-9]+)?$ ]] ||
		die "patches/series: what are the bases \"$1\"?"
	if [[ -n $from ]] && newer "$from" "$BASE"; then return 1; fi
	if [[ -n $to ]] && newer "$BASE" "$to"; then return 1; fi
}

# diff_file PATCH: the file with the diff of PATCH for the base: PATCH@VERSION.diff or
# PATCH@VERSION.patch of the lowest version that is at least the base, or PATCH itself
diff_file()
{
	local file version found='' lowest=''
	for file in "${1%.patch}"@*.diff "${1%.patch}"@*.patch; do
		[[ -e $file ]] || continue
		version=${file##*@}
		version=${version%.*}
		if newer "$BASE" "$version"; then continue; fi
		if [[ -z $found ]] || newer "$lowest" "$version"; then
			found=$file lowest=$version
		fi
	done
	echo "${found:-$1}"
}

# unneeded_files: the overlay files (New-file:) of patches that are not for this base
unneeded_files()
{
	local file bases
	while read -r file bases; do
		if [[ -n $bases ]] && ! needed "$bases"; then
			sed -nE '/^---$/q; s/^New-file: *([^[:space:]]+).*/\1/p' "$TOP/patches/$file"
		fi
	done < <(series_lines)
}

# overlay_files: all others
overlay_files()
{
	local dirs=() d
	for d in "${OVERLAY_DIRS[@]}"; do
		if [[ -d $TOP/$d ]]; then dirs+=("$d"); fi
	done
	(( ${#dirs[@]} )) || return 0
	{
		if [[ -f $TOP/Kconfig ]]; then echo "$MENU"; fi
		cd "$TOP" && find "${dirs[@]}" -path tools/kit -prune -o \
			-type f ! -name '*~' ! -name '.*.swp' -print
	} | grep -vxF -f <(unneeded_files) | sort
}

# overlay_source PATH: the path of the new file PATH in this repository
overlay_source()
{
	if [[ $1 == "$MENU" ]]; then
		echo "$TOP/Kconfig"
	else
		echo "$TOP/$1"
	fi
}

# subjects: the folders of patches, in order; nothing if there are no folders
subjects() { series | sed -nE "s|^$TOP/patches/([^/]+)/.*|\1|p" | uniq; }

# text_file PATCH: the file with the text of PATCH for the base
text_file()
{
	local file
	file=$(diff_file "$1")
	if [[ $file == *.diff ]]; then file=$1; fi
	echo "$file"
}

# our_files_id: a checksum of all patches and overlay files
our_files_id()
{
	{
		local patch
		while read -r patch; do printf '%s\n' "$patch" "$(diff_file "$patch")"; done \
			< <(series) | sed "s|^$TOP/||" | uniq
		overlay_files | sed "s|^$MENU$|Kconfig|"
	} | (cd "$TOP" && tr '\n' '\0' | xargs -0 -r sha256sum -- 2> /dev/null) | sha256sum
}

patch_subject()
{
	sed -n 's/^Subject: *//p; /^---$/q' "$(text_file "$1")" | head -n 1
}

# patch_body FILE: the changelog
patch_body()
{
	awk '/^---$/ { exit } /^Subject:/ && !s { s = 1; next } /^New-file:/ { next } { print }' \
		"$(text_file "$1")" |
		sed -e '/./,$!d'
}

# patch_diff FILE: the diff for the base, without the header
patch_diff()
{
	local file
	file=$(diff_file "$1")
	if [[ $file == *.diff ]]; then
		cat "$file"
	else
		sed '1,/^---$/d' "$file"
	fi
}

# patch_targets FILE: the existing kernel files that it changes
patch_targets()
{
	patch_diff "$1" | sed -nE 's,^\+\+\+ [^/[:space:]]+/([^[:space:]]+).*,\1,p' | sort -u
}

# patch_new_files FILE: the overlay files that its New-file: lines claim
patch_new_files()
{
	local claim
	sed -nE '/^---$/q; s/^New-file: *([^[:space:]]+).*/\1/p' "$(text_file "$1")" |
	while read -r claim; do
		claim=${claim%/}
		overlay_files | awk -v c="$claim" '
			$0 == c || index($0, c "/") == 1 { print; found = 1 }
			END { exit !found }' ||
			die "${1#"$TOP"/} claims $claim, but there is no such overlay file"
	done
}

# check_claims: fails unless exactly one patch claims each overlay file
check_claims()
{
	local p claims odd name
	series > /dev/null || exit
	claims=$(mktemp)
	while read -r p; do
		[[ -f $p ]] || die "patches/series names ${p#"$TOP"/patches/}, but there is no such file"
		[[ -n $(patch_subject "$p") ]] || die "${p#"$TOP"/} has no Subject: line"
		grep -q '^---$' "$(text_file "$p")" ||
			die "$(text_file "$p") has no --- line after its header"
		[[ $(diff_file "$p") == "$p" || -n $(patch_targets "$p") ]] ||
			die "$(diff_file "$p") has no diff"
		patch_new_files "$p" >> "$claims"
	done < <(series)
	for p in "$TOP"/patches/*/*@*; do
		name=${p#"$TOP/patches/"}
		[[ ! -e $p ]] || grep -q "^${name%@*}.patch" "$TOP/patches/series" ||
			die "patches/$name belongs to no patch of patches/series"
	done
	sort -o "$claims" "$claims"
	odd=$(uniq -d "$claims" | paste -sd ' ')
	[[ -z $odd ]] || die "claimed by more than one patch (New-file:): $odd"
	odd=$(overlay_files | comm -23 - "$claims" | paste -sd ' ')
	[[ -z $odd ]] || die "claimed by no patch (New-file:): $odd"
	rm -f "$claims"
}

# rejected LOG: the first file that patch(1) rejects, from its output
rejected()
{
	awk '/^(checking|patching) file / { f = $3 }
	     /FAILED at|ignored|Reversed/ { print f; exit }' "$1"
}

# apply_patch PATCH TREE VERSION: applies PATCH without fuzz if possible, else with fuzz.
# If that fails too, changes nothing and ends the script.
apply_patch()
{
	local name out=$LOGS/patch.log fuzz file
	name=$(diff_file "$1")
	name=${name#"$TOP"/}
	mkdir -p "$LOGS"
	for file in $(patch_targets "$1"); do
		[[ -f $2/$file ]] || die "$name does not apply to Linux $3: there is no $file"
	done
	for fuzz in 0 "$FUZZ"; do
		if try_patch "$1" "$2" "$fuzz" --dry-run > "$out" 2>&1; then
			try_patch "$1" "$2" "$fuzz" > "$out" 2>&1 ||
				die "$name: the dry run applied it, but the real run failed; log: $out"
			if (( fuzz )); then say_fuzz "$name" "$3" "$out"; fi
			return 0
		fi
	done
	file=$(rejected "$out")
	die "$name does not apply to ${file:-its files} of Linux $3, not even with fuzz $FUZZ;" \
		"log: $out"
}

# try_patch PATCH TREE FUZZ [OPTION]
try_patch()
{
	patch_diff "$1" |
		patch -p1 -d "$2" -F "$3" -N -r - --no-backup-if-mismatch "${@:4}"
}

say_fuzz()
{
	local file
	for file in $(awk '/^patching file/ { f = $3 } /with fuzz/ { print f }' "$3" | uniq); do
		say "note: $1 applied to $file of Linux $2 with fuzz; please refresh it"
	done
}

# overlay_one PATH TREE: copies one overlay file into TREE
overlay_one()
{
	mkdir -p "$(dirname "$2/$1")"
	cp -p "$(overlay_source "$1")" "$2/$1"
}

# trim_menu TREE: copies the menu into TREE without the "source" lines of files that do
# not exist there yet (a later patch adds them)
trim_menu()
{
	[[ -f $1/$MENU ]] || return 0
	awk -v tree="$1" '
		/^source / {
			file = $2
			gsub(/"/, "", file)
			if ((getline line < (tree "/" file)) < 0) { skip = 1; next }
			close(tree "/" file)
		}
		skip && /^$/ { skip = 0; next }
		{ skip = 0; print }' "$TOP/Kconfig" > "$1/$MENU"
}

# stage_patched STOCK DIR: writes the overlay files and the patched files to DIR
stage_patched()
{
	local version p f
	version=$(base_version "$1")
	check_claims
	mkdir -p "$2"
	while read -r p; do
		for f in $(patch_targets "$p"); do
			if [[ -f $1/$f && ! -e $2/$f ]]; then
				mkdir -p "$(dirname "$2/$f")"
				cp -p "$1/$f" "$2/$f"
			fi
		done
		if [[ -n $(patch_targets "$p") ]]; then apply_patch "$p" "$2" "$version"; fi
	done < <(series)
	while read -r f; do
		[[ ! -e $1/$f ]] || die "$f is in Linux $version already: change it by a patch"
		overlay_one "$f" "$2"
	done < <(overlay_files)
}
