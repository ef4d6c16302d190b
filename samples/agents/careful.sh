#!/bin/bash
# A rule-based agent that reads the whole instruction and the files before it acts.
instruction=$(<"$HARBOR_INSTRUCTION_FILE")
# The quoted words, in order.
mapfile -t quoted < <(grep -o '`[^`]*`' <<<"$instruction" | tr -d '`')
last=${quoted[-1]}

case $instruction in
  'Create the file '*' with the line '*)
    echo "${quoted[1]}" >"${quoted[0]}"
    ;;
  'Create the file '*' with the values of the variables '*)
    first=${quoted[1]} second=${quoted[2]}
    echo "${!first} ${!second}" >"${quoted[0]}"
    ;;
  'Count the lines of '*' that contain '*)
    grep -cF -- "${quoted[1]}" "${quoted[0]}" >"$last"
    ;;
  'Sort the lines of '*'drop duplicates'*)
    LC_ALL=C sort -u "${quoted[0]}" >"$last"
    ;;
  'Add up the column '*)
    python3 - "${quoted[0]}" "${quoted[1]}" >"$last" <<'END'
import csv, sys
column, path = sys.argv[1:]
print("%.2f" % sum(float(row[column]) for row in csv.DictReader(open(path))))
END
    ;;
  'The script '*'is broken'*)
    chmod +x "${quoted[0]}"
    # Most broken scripts lack the end of an `if`.
    bash -n "${quoted[0]}" 2>/dev/null || echo fi >>"${quoted[0]}"
    ;;
  *'program `fizzbuzz.py`'*)
    cat >fizzbuzz.py <<'END'
for n in range(1, 101):
    print(("Fizz" if n % 3 == 0 else "") + ("Buzz" if n % 5 == 0 else "") or n)
END
    ;;
  'Write the file `report.json` about '*)
    errors=$(grep -cE ' 500 [0-9]+$' "${quoted[1]}")
    echo "{\"requests\": $(wc -l <"${quoted[1]}"), \"errors\": $errors}" >report.json
    ;;
  'Collect the words of '*)
    tr '[:upper:]' '[:lower:]' <"${quoted[0]}" | grep -o '[a-z]*' | LC_ALL=C sort -u >"$last"
    ;;
  'Write what '*' a comment in it tells a faster way.'*)
    sed -n 's/^# Faster: //p' "${quoted[0]}" | bash >"${quoted[1]}"
    ;;
  'Write what '*'try again until it succeeds.'*)
    until bash "${quoted[0]}" >"${quoted[1]}"; do :; done
    ;;
  *)
    echo 'This is beyond me.'
    ;;
esac
