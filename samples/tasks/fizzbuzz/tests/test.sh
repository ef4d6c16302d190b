#!/bin/bash
python3 "${BASH_SOURCE%/*}/grade.py" >/logs/verifier/reward.txt
cat /logs/verifier/reward.txt
