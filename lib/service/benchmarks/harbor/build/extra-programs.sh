#!/bin/bash
# Stands first in the PATH of a trial under the name of each program that this machine has and the image does not have, and
# of each program that installs packages. It notes the call and then runs the real program. A use is not noted where the
# trial has replaced the program, or where the installed agent itself runs on it.
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

note() {
  [[ $'\n'$(<"$folder/../noted")$'\n' == *$'\n'"$*"$'\n'* ]] || echo "${*//$'\n'/ }" >>"$folder/../noted"
} 2>/dev/null

# What Python and a plugin of pytest ask at their start, and do without where there is no answer.
is_idle() {
  [[ $name == file && $1 == -b && $2 == "$(readlink "/proc/$PPID/exe")" ]] && return
  [[ "$name $*" == 'git rev-parse --git-dir' && $(tr '\0' ' ' <"/proc/$PPID/cmdline") == *pytest* ]]
} 2>/dev/null

# Whether a program is the machine's, under its own name or that of another which stands beside it.
is_machine() {
  [[ $'\n'$(<"$folder/../machine/$1")$'\n' == *$'\n'"$2 $(stat -L -c '%s %Z' -- "$2")"$'\n'* ]]
} 2>/dev/null

case $name in
  apt | apt-get | aptitude | pip* | poetry | uv) note call "$name" "$@" ;;
  python*)
    [[ $1 == -m ]] && note call "$name" "$@"
    [[ "$1 $2" == '-m pytest' ]] && is_machine pytest "${real%/*}/pytest" && note used pytest
    ;;
esac
if [[ ! $HARBOR_AGENT_FOLDER || $1 != "$HARBOR_AGENT_FOLDER"/* ]] && is_machine "$name" "$real" && ! is_idle "$@"; then
  note used "$name"
fi
exec "$real" "$@"
