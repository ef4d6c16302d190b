#!/bin/bash
if [[ $PWD == /app/project && $(</app/project/greeting.txt) == 'Good morning all of you' ]]; then reward=1; else reward=0; fi
echo "$reward" >/logs/verifier/reward.txt
