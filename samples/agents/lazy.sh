#!/bin/bash
# A rule-based agent that solves the simplest task and fails at all others.
instruction=$(<"$HARBOR_INSTRUCTION_FILE")
if [[ $instruction =~ ^'Create the file `'([^\`]*)'` with the line `'([^\`]*)'`' ]]; then
  echo "${BASH_REMATCH[2]}" >"${BASH_REMATCH[1]}"
else
  echo 'This is too much work.' >&2
  exit 3
fi
