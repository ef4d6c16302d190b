"""One reward for each of the two numbers, and their mean."""

import json

expected = {"requests": 200, "errors": 15}
try:
    report = json.load(open("report.json"))
except (OSError, ValueError):
    report = {}
parts = {key: int(report.get(key) == value) for key, value in expected.items()}
print(json.dumps({"reward": sum(parts.values()) / len(parts), **parts}))
