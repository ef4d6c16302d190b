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

if [[ ! -e $folder/../machine/$name ]]; then
  note call "$name" "$@"
elif [[ ! $HARBOR_AGENT_FOLDER || $1 != "$HARBOR_AGENT_FOLDER"/* ]]; then
  [[ "$real $(stat -L -c '%s %Z' -- "$real" 2>/dev/null)" == "$(<"$folder/../machine/$name")" ]] && note used "$name"
fi
exec "$real" "$@"
