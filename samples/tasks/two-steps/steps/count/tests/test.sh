#!/bin/bash
[[ $(<count.txt) == 5 ]] && reward=1 || reward=0
echo "$reward" >/logs/verifier/reward.txt
