#!/bin/bash
echo "$GREETING $AUDIENCE" >greeting.txt
