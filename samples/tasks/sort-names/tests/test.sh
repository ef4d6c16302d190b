#!/bin/bash
# Exits with the status of cmp, which does not matter: the reward file tells the result.
cmp sorted.txt "${BASH_SOURCE%/*}/sorted.txt"
status=$?
echo "$((status == 0 ? 1 : 0))" >/logs/verifier/reward.txt
exit "$status"
