package session_test

import (
	"context"
	"sync"

	"aalis/backend/approval"
	"aalis/backend/core"
	"aalis/backend/wire/session"
)

// approvals opens a log as the step log does, with the approval service over it.
func (s *stage) approvals() {
	s.t.Helper()
	service := approval.New(approval.Options{})
	s.kernel = startKernel(s.t, s.t.TempDir(), func(o *core.Options) { o.Admission = service })
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		if err := service.Run(ctx, s.kernel.loop); err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(func() {
		cancel()
		watching.Wait()
	})
	s.serve(s.kernel.loop)
	s.server.Update(func(all *session.Services) { all.Approvals = service })
}
