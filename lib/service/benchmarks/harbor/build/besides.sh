#!/bin/bash
# First in the PATH of a trial, under the name of each program that this machine has and the image has not. A use of it is
# noted, unless the trial has put another in its place, or the agent that was installed is itself run by it; and so is each
# call of a program that installs packages. Every call is the real program's.
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
