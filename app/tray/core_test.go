package tray

import (
	"encoding/binary"
	"image/color"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestDecideAgain: a second click is the same one; when the answer has not arrived, a later one tries
// again.
func TestDecideAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards decided
		var decided []bool
		release := make(chan struct{})
		c := newCore(Options{Decide: func(_ string, approve bool) {
			mu.Lock()
			decided = append(decided, approve)
			mu.Unlock()
			<-release
		}})
		c.set(State{Requests: []Request{{ID: "a"}}})
		items, _, _ := c.look()
		answers := items[len(items)-1].below
		approve, deny := answers[0].id, answers[1].id
		c.click(approve)
		synctest.Wait()
		c.click(deny) // while it is decided
		close(release)
		synctest.Wait()
		time.Sleep(deaf - time.Millisecond)
		c.click(deny) // the same hand
		synctest.Wait()
		if !slices.Equal(decided, []bool{true}) {
			t.Fatal(decided)
		}
		time.Sleep(time.Millisecond)
		c.click(deny)
		c.close()
		if !slices.Equal(decided, []bool{true, false}) {
			t.Fatal(decided)
		}
	})
}

func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, closed := make(chan struct{}), false
		c := newCore(Options{Show: func() { <-release }})
		c.click(showID)
		go func() { c.close(); closed = true }()
		synctest.Wait()
		if closed {
			t.Error("close did not wait for what was told")
		}
		close(release)
		synctest.Wait()
		c.click(showID) // nobody is told any more
		if !closed {
			t.Error("close still waits")
		}
	})
}

// TestSetBeforeShown: what is settled cannot be decided from the moment that the tray is told, whatever a
// panel still shows.
func TestSetBeforeShown(t *testing.T) {
	c := newCore(Options{Decide: func(string, bool) { t.Error("decided") }})
	c.set(State{Requests: []Request{{ID: "a", What: "x"}}})
	items, _, _ := c.look()
	c.set(State{Requests: []Request{{ID: "a", What: "y"}}}) // other words are another request
	for _, answer := range items[len(items)-1].below {
		c.click(answer.id)
	}
	c.close()
}

func TestUpdateVersion(t *testing.T) {
	c := newCore(Options{})
	c.set(State{Update: "2.0\u202e" + strings.Repeat("9", 100)})
	items, _, _ := c.look()
	if got := items[3].label; got != "Restart to use version 2.0 ⟨…93⟩ 99999999" {
		t.Error(got)
	}
}

// TestIcon sees that every state is told apart in every size, and shows on dark and light alike.
func TestIcon(t *testing.T) {
	seen := map[string]appearance{}
	all := []appearance{{}, {working: true}, {failed: true}}
	for n := range 10 {
		all = append(all, appearance{waiting: n + 1}, appearance{waiting: n + 1, working: true})
	}
	for _, size := range sizes {
		for _, a := range all {
			pix := draw(a, size).Pix
			key := string(pix)
			if same, twice := seen[key]; twice && (a.waiting == 0 || same.waiting != a.waiting) {
				t.Errorf("%d pixels: %+v looks like %+v", size, a, same)
			}
			seen[key] = a
			var dark, light int
			for i := 0; i < len(pix); i += 4 {
				if pix[i+3] < 0xf0 {
					continue
				}
				switch brightness := (int(pix[i])*3 + int(pix[i+1])*6 + int(pix[i+2])) / 10; {
				case brightness > 0xc0:
					light++
				case brightness < 0x78:
					dark++
				}
			}
			if dark < size*size/5 || light < size*size/25 {
				t.Errorf("%d pixels, %+v: %d dark ones, %d light ones", size, a, dark, light)
			}
		}
	}
}

// TestIco reads the file back: where each picture lies, its size, and its first row.
func TestIco(t *testing.T) {
	a := appearance{waiting: 3}
	file := ico(a)
	le := binary.LittleEndian
	if n := int(le.Uint16(file[4:])); n != len(sizes) {
		t.Fatal(n)
	}
	end := 6 + 16*len(sizes)
	for n, size := range sizes {
		entry := file[6+16*n:]
		length, at := int(le.Uint32(entry[8:])), int(le.Uint32(entry[12:]))
		if int(entry[0]) != size || at != end {
			t.Fatalf("%d: %d pixels at %d, want %d", n, entry[0], at, end)
		}
		end = at + length
		picture := file[at:end]
		if int(le.Uint32(picture[4:])) != size || int(le.Uint32(picture[8:])) != 2*size || length != 40+size*size*4+(size+31)/32*4*size {
			t.Fatalf("%d pixels: %v", size, picture[:40])
		}
		want := draw(a, size)
		for x := range size {
			b := picture[40+(size*(size-1)+x)*4:]
			if got := (color.NRGBA{b[2], b[1], b[0], b[3]}); got != want.NRGBAAt(x, 0) {
				t.Fatalf("%d pixels, %d: %v, want %v", size, x, got, want.NRGBAAt(x, 0))
			}
		}
	}
	if end != len(file) {
		t.Errorf("%d bytes, want %d", len(file), end)
	}
}
