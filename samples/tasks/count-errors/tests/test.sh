#!/bin/bash
expected=$(grep -c ERROR "${BASH_SOURCE%/*}/app.log")
if [[ $(<count.txt) == "$expected" ]]; then reward=1; else reward=0; fi
echo "expected $expected"
echo "$reward" >/logs/verifier/reward.txt
