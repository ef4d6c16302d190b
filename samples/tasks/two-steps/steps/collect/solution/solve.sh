#!/bin/bash
tr '[:upper:]' '[:lower:]' <text.txt | grep -o '[a-z]*' | LC_ALL=C sort -u >words.txt
