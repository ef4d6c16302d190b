"""A quarter for each kind of number that is right throughout."""

import subprocess

result = subprocess.run(["python3", "fizzbuzz.py"], capture_output=True, text=True, timeout=10)
lines = dict(enumerate(result.stdout.splitlines(), 1))
kinds = {"": [], "Fizz": [], "Buzz": [], "FizzBuzz": []}
for n in range(1, 101):
    word = ("Fizz" if n % 3 == 0 else "") + ("Buzz" if n % 5 == 0 else "")
    kinds[word].append(lines.get(n) == (word or str(n)))
print(sum(all(kind) for kind in kinds.values()) / 4)
