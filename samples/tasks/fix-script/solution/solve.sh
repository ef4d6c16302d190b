#!/bin/bash
echo fi >>greet.sh
chmod +x greet.sh
