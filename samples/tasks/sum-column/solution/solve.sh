#!/bin/bash
python3 -c '
import csv
print("%.2f" % sum(float(row["amount"]) for row in csv.DictReader(open("orders.csv"))))' >total.txt
