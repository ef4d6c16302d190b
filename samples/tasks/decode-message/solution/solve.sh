#!/bin/bash
base64 -d message.txt | tr 'A-Za-z' 'N-ZA-Mn-za-m' >decoded.txt
