#!/bin/bash
[[ $(<answer.txt) == 5050 ]] && reward=1 || reward=0
echo "$reward" >/logs/verifier/reward.txt
