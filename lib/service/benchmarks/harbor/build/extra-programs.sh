#!/bin/bash
# Wraps each program that this machine has and the image lacks, and each package installer: first in the PATH of a trial.
# Records the call, then runs the real program. Uses by the agent itself, or of a program the trial replaced, do not count.
name=${0##*/}
folder=${0%/*}

find_real() {
  local IFS=: each
  for each in $PATH; do
    [[ $each != "$folder" && -f $each/$name && -x $each/$name ]] && real=$each/$name && return
  done
  echo "$name: command not found" >&2
  exit 127
}
find_real

record() {
  [[ $'\n'$(<"$folder/../used")$'\n' == *$'\n'"$*"$'\n'* ]] || echo "${*//$'\n'/ }" >>"$folder/../used"
} 2>/dev/null

# Python and a pytest plugin call these at startup and work without them.
is_optional() {
  [[ $name == file && $1 == -b && $2 == "$(readlink "/proc/$PPID/exe")" ]] && return
  [[ "$name $*" == 'git rev-parse --git-dir' && $(tr '\0' ' ' <"/proc/$PPID/cmdline") == *pytest* ]]
} 2>/dev/null

is_machine() {
  [[ $'\n'$(<"$folder/../machine/$1")$'\n' == *$'\n'"$2 $(stat -L -c '%s %Z' -- "$2")"$'\n'* ]]
} 2>/dev/null

case $name in
  apt | apt-get | aptitude | pip* | poetry | uv) record call "$name" "$@" ;;
  python*)
    [[ $1 == -m ]] && record call "$name" "$@"
    [[ "$1 $2" == '-m pytest' ]] && is_machine pytest "${real%/*}/pytest" && record used pytest
    ;;
esac
if [[ ! $HARBOR_AGENT_FOLDER || $1 != "$HARBOR_AGENT_FOLDER"/* ]] && is_machine "$name" "$real" && ! is_optional "$@"; then
  record used "$name"
fi
exec "$real" "$@"
