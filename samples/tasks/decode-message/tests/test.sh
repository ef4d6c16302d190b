#!/bin/bash
[[ $(<decoded.txt) == 'The owl lands at midnight.' ]] && reward=1 || reward=0
echo "$reward" >/logs/verifier/reward.txt
