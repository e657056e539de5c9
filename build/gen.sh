#!/usr/bin/env bash
# Writes the contracts that are generated from the Go types: backend/contract/schema,
# frontend/src/contract and frontend/src/clients/v1/protocol.gen.ts. Run it after changing a shape in backend/wire; the tests say so too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec go run ./backend/contract/gen
