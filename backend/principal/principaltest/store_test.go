package principaltest_test

import (
	"testing"

	"aalis/backend/principal"
	"aalis/backend/principal/principaltest"
)

func TestMemory(t *testing.T) {
	principaltest.RunStore(t, func(*testing.T) principal.Store { return principaltest.NewMemory() })
}
