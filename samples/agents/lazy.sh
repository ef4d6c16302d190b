#!/bin/bash
# An agent of rules: does the simplest of tasks and gives up on all others, with the exit code of a failure.
instruction=$(<"$HARBOR_INSTRUCTION_FILE")
if [[ $instruction =~ ^'Create the file `'([^\`]*)'` with the line `'([^\`]*)'`' ]]; then
  echo "${BASH_REMATCH[2]}" >"${BASH_REMATCH[1]}"
else
  echo 'This is too much work.' >&2
  exit 3
fi
