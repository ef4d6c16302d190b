#!/bin/bash
grep -c ERROR app.log >count.txt
