#!/bin/bash
if [[ -n $1 ]]; then
  echo "Hello, $1!"
