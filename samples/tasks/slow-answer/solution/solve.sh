#!/bin/bash
echo $((100 * 101 / 2)) >answer.txt
