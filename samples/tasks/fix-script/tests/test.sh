#!/bin/bash
# Half for being a program, half for what it prints.
score=0
[[ -x greet.sh ]] && score=0.5
if [[ $(bash greet.sh Ada) == 'Hello, Ada!' && -z $(bash greet.sh) ]]; then
  if [[ $score == 0.5 ]]; then score=1; else score=0.5; fi
fi
echo "$score" >/logs/verifier/reward.txt
