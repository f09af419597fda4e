"""The positive control: an attack with the rights of whoever runs the tests."""
import json
import sys

from attempt import attempt

given = json.load(sys.stdin)
print(attempt(given["code"], given["places"]))
