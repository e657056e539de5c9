package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"aalis/backend/core"
	"aalis/backend/event"
)

// picture is an image whose bytes are the hash's own letters.
func picture(name string) event.Attachment {
	return event.Attachment{Kind: "image", Name: name, Type: "image/png", Size: 64, Blob: strings.Repeat(name[:1], 64)}
}

func readPicture(hash string, _ int64) ([]byte, error) {
	if strings.HasPrefix(hash, "f") {
		return nil, errors.New("no such file")
	}
	return []byte(hash), nil
}

// show says something with files.
func (r *rig) show(session, words string, files ...event.Attachment) {
	r.t.Helper()
	in := say(words)
	in.Attachments = files
	r.do(core.SendInput{Actor: owner, Session: session, Input: in})
}

// images lists, for every call of the model, how many images went with it.
func (r *rig) images() (counts []int) {
	for _, req := range r.model.Requests() {
		n := 0
		for _, m := range req.Messages {
			n += len(m.Images)
		}
		counts = append(counts, n)
	}
	return counts
}

func TestFilesOfInputs(t *testing.T) {
	t.Run("the model is shown the images, also those that join, and again in later turns", func(t *testing.T) {
		bubble(t, setup{files: readPicture, script: "call\ngate go\ntool echo {\"words\":\"a\"}\ncall\ntext both\ncall\ntext still"}, func(r *rig) {
			s := r.session()
			r.show(s, "one", picture("a.png"))
			settle()
			r.show(s, "", picture("b.png"))
			r.model.Open("go")
			r.idle()
			r.send(s, "and now?")
			r.idle()
			same(t, "images", r.images(), 1, 2, 2)
			same(t, "outcomes", r.outcomes(s), event.Replied, event.Replied)
		})
	})
	t.Run("a model that refuses images is asked once without, the owner is told, and it is not shown them again", func(t *testing.T) {
		dir := t.TempDir()
		bubble(t, setup{dir: dir, files: readPicture, script: "call\nerror refused status=400 image_url is not supported\ncall\ntext I cannot see it\ncall\ntext fine"}, func(r *rig) {
			s := r.session()
			r.show(s, "what is this?", picture("a.png"))
			r.idle()
			r.send(s, "and now?")
			r.idle()
			same(t, "images", r.images(), 1, 0, 0)
			same(t, "outcomes", r.outcomes(s), event.Replied, event.Replied)
			for _, call := range []int{1, 2} {
				if told := r.toldInCall(call)[0]; !strings.Contains(told, `"a.png", image/png, 64 bytes; this model does not take it`) {
					t.Error(told)
				}
			}
			notices := payloads[event.Notice](r, s)
			if len(notices) != 1 || notices[0].Topic != "event-marker" || notices[0].Text.String() != "test/m did not take the images. She was told their names only." {
				t.Errorf("%+v", notices)
			}
			// The notice stands before the words that were said without them.
			kinds := []event.Kind{}
			for _, e := range r.events(s) {
				if e.Kind == event.HostNotice || e.Kind == event.MessageStarted {
					kinds = append(kinds, e.Kind)
				}
			}
			same(t, "order", kinds, event.HostNotice, event.MessageStarted, event.MessageStarted)
		})
		t.Run("nor after a restart; a new image is tried", func(t *testing.T) {
			bubble(t, setup{dir: dir, files: readPicture, script: "call\ntext a\ncall\nerror refused status=400 no\ncall\ntext b"}, func(r *rig) {
				s := r.sessions()[0]
				r.send(s, "again")
				r.idle()
				r.show(s, "another", picture("b.png"))
				r.idle()
				same(t, "images", r.images(), 0, 1, 0)
			})
		})
	})
	t.Run("within the turn that found out, further calls are without them", func(t *testing.T) {
		bubble(t, setup{files: readPicture, script: "call\nerror not_found status=404 no endpoint takes images\ncall\ntool echo {\"words\":\"a\"}\ncall\ntext done"}, func(r *rig) {
			s := r.session()
			r.show(s, "look", picture("a.png"))
			r.idle()
			same(t, "images", r.images(), 1, 0, 0)
		})
	})
	t.Run("when it fails without them too, the turn fails with that, and they are not said to be the reason", func(t *testing.T) {
		bubble(t, setup{files: readPicture, script: "call\nerror refused status=400 first\ncall\nerror refused status=400 second\ncall\ntext fine"}, func(r *rig) {
			s := r.session()
			r.show(s, "look", picture("a.png"))
			r.idle()
			r.send(s, "again")
			r.idle()
			same(t, "images", r.images(), 1, 0, 1)
			same(t, "outcomes", r.outcomes(s), event.Errored, event.Replied)
			if f := payloads[event.Failure](r, s); len(f) != 1 || !strings.Contains(f[0].Raw, "second") {
				t.Errorf("%+v", f)
			}
			if n := payloads[event.Notice](r, s); len(n) != 0 {
				t.Errorf("%+v", n)
			}
		})
	})
	t.Run("an error of another kind, and one without images, are not asked again", func(t *testing.T) {
		bubble(t, setup{files: readPicture, script: "call\nerror auth status=401 no key\ncall\nerror refused status=400 no"}, func(r *rig) {
			s := r.session()
			r.show(s, "look", picture("a.png"))
			r.idle()
			other := r.session()
			r.show(other, "look", picture("f.png")) // its bytes are gone
			r.idle()
			same(t, "images", r.images(), 1, 0)
		})
	})
	t.Run("the usage of a session counts its images", func(t *testing.T) {
		bubble(t, setup{files: readPicture, script: "call\ntext ok"}, func(r *rig) {
			s := r.session()
			before, err := r.reactor.Usage(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			r.show(s, "", picture("a.png"))
			r.idle()
			after, err := r.reactor.Usage(context.Background(), s)
			if err != nil || after.Prompt < before.Prompt+1000 {
				t.Errorf("%d, then %d: %v", before.Prompt, after.Prompt, err)
			}
		})
	})
}
