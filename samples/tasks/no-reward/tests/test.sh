#!/bin/bash
# A mistake, on purpose: whether the file is there is printed and told to nobody.
[[ -e done.txt ]] && echo passed || echo failed
