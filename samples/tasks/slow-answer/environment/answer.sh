#!/bin/bash
# Adds the numbers up one by one, with a break after each.
# Faster: echo $((100 * 101 / 2))
sum=0
for ((i = 1; i <= 100; i++)); do
  sum=$((sum + i))
  sleep 1
done
echo "$sum"
