#!/bin/bash
# Patterns and plans against software that others wrote: Open MPI's datatypes and HDF5's hyperslabs, where these
# libraries are installed (Debian: libopenmpi-dev, libhdf5-dev). JUDGE_ROUNDS= (default 20000) random shapes each.
set -u
cd "$(dirname "$0")/../.."
. tests/shell.sh
rounds=${JUDGE_ROUNDS:-20000}
root=$PWD
flags="-std=gnu11 -O2 -Wall -Wextra -Werror -I$root"

judge() { # NAME COMPILER...: compiles tests/libpio/judge_NAME.c, and runs it
    local name=$1 counts
    shift
    # There, because h5cc leaves the objects where it runs
    (cd "$scratch" && "$@" $flags -o "$name" "$root/tests/libpio/judge_$name.c" "$root"/libpio/map/*.c \
        "$root"/vertex/shared/text.c) \
        >"$scratch/log" 2>&1 ||
        { check "judge_$name.c compiles" false; head -n 5 "$scratch/log" >&2; return; }
    # Open MPI alone, without its daemon, its shared memory or the network; its files go to where ours are
    TMPDIR=$scratch OMPI_MCA_btl=self OMPI_MCA_pml=ob1 OMPI_MCA_orte_tmpdir_base=$scratch \
        OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_ess_singleton_isolated=1 \
        "$scratch/$name" "$rounds" 1 >"$scratch/log" 2>"$scratch/errors"
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$scratch/log")
    check "judge_$name.c: most shapes are small enough to be compared" test "${counts% *}" -gt $((rounds / 2))
    same "judge_$name.c: differences in $rounds shapes" 0 "${counts#* }"
    grep -m 5 '^failed' "$scratch/log" >&2
    cat "$scratch/errors" >&2
}

if command -v mpicc >/dev/null; then
    judge mpi mpicc
else
    skip "patterns against Open MPI's datatypes" "libopenmpi-dev is not installed"
fi
if command -v h5cc >/dev/null; then
    judge hdf5 h5cc -shlib
else
    skip "plans against HDF5's hyperslabs" "libhdf5-dev is not installed"
fi
finish
