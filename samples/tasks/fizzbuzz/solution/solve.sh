#!/bin/bash
cat >fizzbuzz.py <<'END'
for n in range(1, 101):
    print(("Fizz" if n % 3 == 0 else "") + ("Buzz" if n % 5 == 0 else "") or n)
END
