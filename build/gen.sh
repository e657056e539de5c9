#!/usr/bin/env bash
# Writes the contracts that are generated from the Go types: backend/contract/schema and
# frontend/src/contract. Run it after changing a shape in backend/wire; the tests say so too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec go run ./backend/contract/gen
