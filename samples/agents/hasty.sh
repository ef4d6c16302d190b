#!/bin/bash
# A rule-based agent that reads only the first words of the instruction and checks nothing.
instruction=$(<"$HARBOR_INSTRUCTION_FILE")
mapfile -t quoted < <(grep -o '`[^`]*`' <<<"$instruction" | tr -d '`')
last=${quoted[-1]}

case $instruction in
  'Create the file '*' with the line '*)
    echo "${quoted[1]}" >"${quoted[0]}"
    ;;
  'Count the lines of '*)
    # Ignores case, which is wrong.
    grep -ci -- "${quoted[1]}" "${quoted[0]}" >"$last"
    ;;
  'Sort the lines of '*)
    LC_ALL=C sort -u "${quoted[0]}" >"$last"
    ;;
  'Add up the column '*)
    # Splits at commas inside quotes, which is wrong.
    cut -d, -f3 "${quoted[1]}" | grep -E '^[0-9.]+$' | paste -sd+ | python3 -c 'print(eval(input()))' >"$last"
    ;;
  'The script '*)
    chmod +x "${quoted[0]}"
    ;;
  *'program `fizzbuzz.py`'*)
    cat >fizzbuzz.py <<'END'
for n in range(1, 101):
    print("Fizz" if n % 3 == 0 else "Buzz" if n % 5 == 0 else n)
END
    ;;
  'Write the file `report.json` about '*)
    echo "{\"requests\": $(wc -l <"${quoted[1]}"), \"errors\": $(grep -c 500 "${quoted[1]}")}" >report.json
    ;;
  'Collect the words of '*)
    # Keeps case and punctuation, which is wrong.
    tr ' ' '\n' <"${quoted[0]}" | LC_ALL=C sort -u >"$last"
    ;;
  'Write what '*)
    bash "${quoted[0]}" >"${quoted[1]}"
    ;;
  *)
    echo 'This is beyond me.'
    ;;
esac
exit 0
