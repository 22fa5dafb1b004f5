#!/bin/sh
# One round of the fuzzer under the sanitizers; `make fuzz-nsdisk` runs more. Argument: the build folder.
if "$1/tests/nsdisk/fuzz" 1 1; then
    echo "1 passed, 0 failed, 0 skipped"
else
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
