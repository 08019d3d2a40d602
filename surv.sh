#!/bin/bash
# surv.sh FILE TESTS LOG
npx stryker run --mutate "$1" --testFiles "$2" > "$3" 2>&1
grep -A4 "^\[Survived\]\|^\[NoCoverage\]" "$3" | grep -v "^--$"; tail -7 "$3"
