#!/bin/bash
cmp words.txt "${BASH_SOURCE%/*}/words.txt" && reward=1 || reward=0
echo "$reward" >/logs/verifier/reward.txt
