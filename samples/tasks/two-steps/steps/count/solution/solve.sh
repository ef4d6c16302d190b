#!/bin/bash
grep -c o words.txt >count.txt
