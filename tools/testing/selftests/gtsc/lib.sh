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

# check NAME COMMAND...: the command succeeds
check()
{
	local name=$1
	shift
	"$@"
	is "$name" 0 $?
}

# fails NAME ERROR COMMAND...: with that at the end of what it says
fails()
{
	local name=$1 error=$2 got
	shift 2
	got=$("$@" 2>&1 > /dev/null) && got=success
	is "$name" "$error" "${got##*: }"
}

# wait_for NAME COMMAND...: until the command succeeds. A test must not depend on the
# speed of the machine: the limit is for what never comes.
wait_for()
{
	local name=$1 end=$((SECONDS + 300))
	shift
	until "$@"; do
		if (( SECONDS > end )); then
			is "$name" "$*" 'not within 5 minutes'
			return 1
		fi
		sleep 0.05
	done
}

# ends NAME PID: waits for a process in the background, whose status has to be 0
ends()
{
	local end=$((SECONDS + 120))
	while kill -0 "$2" 2> /dev/null; do
		if (( SECONDS > end )); then
			is "$1" 'to end' 'not within 2 minutes'
			return
		fi
		sleep 0.05
	done
	wait "$2"
	is "$1" 0 $?
}

put() { echo "$1" > "$2"; }

# names DIR: what is in a directory, in one line
names() { (cd "$1" && printf '%s\n' * | xargs); }
