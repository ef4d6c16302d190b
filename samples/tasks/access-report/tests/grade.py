"""One reward for each of the two numbers."""

import json

expected = {"requests": 200, "errors": 15}
try:
    report = json.load(open("report.json"))
except (OSError, ValueError):
    report = {}
print(json.dumps({key: int(report.get(key) == value) for key, value in expected.items()}))
