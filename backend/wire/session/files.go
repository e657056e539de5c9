package session

// File is a stored file that a handle stands for (Spec SP-CONN-01).
type File struct{ URI, Name string }

// ResolveFile gives the file behind a handle of this start and this session; ok is false for any
// other (Spec SP-FILE-08). No item bears a handle as long as nothing stores attachments, so none was
// ever issued.
func (s *Server) ResolveFile(sessionID, handle string) (file File, ok bool) { return File{}, false }
