#!/bin/bash
until ./fetch.sh >parcels.txt; do :; done
