#!/bin/bash
# Fails about every other time, as networks do.
if ((RANDOM % 2)); then
  echo 'connection reset' >&2
  exit 1
fi
echo 'fetched: 7 parcels'
