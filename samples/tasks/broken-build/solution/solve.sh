#!/bin/bash
echo built >built.txt
