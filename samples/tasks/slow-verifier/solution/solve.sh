#!/bin/bash
echo fast >fast.txt
