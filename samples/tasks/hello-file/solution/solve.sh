#!/bin/bash
echo 'Hello, Devdeck!' >hello.txt
