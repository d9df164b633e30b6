# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # some variables are for the tests
#
# What the tests of GTSC share.

KSFT_SKIP=4
nr=0 failed=0

# is NAME EXPECTED GOT
is()
{
	nr=$((nr + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $nr $1"
	else
		echo "not ok $nr $1"
		echo "# expected: $2"
		echo "# got:      $3"
		failed=1
	fi
}

# holds NAME CONDITION: of numbers
holds()
{
	if (( $2 )); then is "$1" "$2" "$2"; else is "$1" "$2" false; fi
}

# fails NAME ERROR COMMAND...
fails()
{
	local name=$1 error=$2 got
	shift 2
	got=$("$@" 2>&1 > /dev/null) && got=success
	is "$name" "$error" "${got##*: }"
}

put() { echo "$1" > "$2"; }

# names DIR: what is in a directory, in one line
names() { (cd "$1" && printf '%s\n' * | xargs); }
