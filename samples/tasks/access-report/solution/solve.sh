#!/bin/bash
requests=$(wc -l <access.log)
errors=$(grep -cE ' 500 [0-9]+$' access.log)
echo "{\"requests\": $requests, \"errors\": $errors}" >report.json
