#!/bin/bash
if [[ $(<total.txt) == 524.75 ]]; then reward=1; else reward=0; fi
echo "$reward" >/logs/verifier/reward.txt
