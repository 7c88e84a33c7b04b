#!/usr/bin/env bash
# Checks that every shell script parses and passes shellcheck.
set -euo pipefail

mapfile -t scripts < <(grep -rlIE '^#(!.*\b(ba)?sh$| shellcheck shell=)' .ci tools tests --include='*' \
    --exclude-dir=node_modules | sort)
echo "${scripts[*]}"
[[ ${#scripts[@]} -gt 0 ]]
for script in "${scripts[@]}"; do
    bash -n "$script"
done
shellcheck --severity=style "${scripts[@]}"
