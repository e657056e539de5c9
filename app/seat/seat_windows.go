package seat

import (
	"context"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The system tells of a locked session to windows only, which this package has none of, so it is asked.
// Not run by anybody yet: it compiles, and follows the documentation.
const askEvery = 30 * time.Second

func (s *Seat) watch(ctx context.Context) {
	again := time.NewTicker(askEvery)
	defer again.Stop()
	for {
		s.set(State{Away: locked() || idleFor() >= s.options.Idle})
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

var (
	lastInput    = windows.NewLazySystemDLL("user32.dll").NewProc("GetLastInputInfo")
	tickCount    = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetTickCount")
	querySession = windows.NewLazySystemDLL("wtsapi32.dll").NewProc("WTSQuerySessionInformationW")
	freeSession  = windows.NewLazySystemDLL("wtsapi32.dll").NewProc("WTSFreeMemory")
)

// idleFor is the time since the last key or movement in this session; 0 where the system does not say.
func idleFor() time.Duration {
	info := struct{ size, tick uint32 }{size: 8}
	if ok, _, _ := lastInput.Call(uintptr(unsafe.Pointer(&info))); ok == 0 {
		return 0
	}
	now, _, _ := tickCount.Call()
	return time.Duration(uint32(now)-info.tick) * time.Millisecond // the counter starts over every 49 days
}

// locked reads SessionFlags of WTSINFOEX. Windows 7 had them the other way round and is not supported.
func locked() bool {
	const (
		currentSession = 0xffffffff
		infoEx         = 25
		flagsLock      = 0
	)
	var info *struct {
		level uint32
		_     uint32
		id    uint32
		state uint32
		flags int32
	}
	var size uint32
	ok, _, _ := querySession.Call(0, currentSession, infoEx, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)))
	if ok == 0 || info == nil {
		return false
	}
	defer func() { _, _, _ = freeSession.Call(uintptr(unsafe.Pointer(info))) }()
	return uintptr(size) >= unsafe.Sizeof(*info) && info.level == 1 && info.flags == flagsLock
}

func look(context.Context) Sources {
	return Sources{Lock: []string{"wtsapi32"}, Idle: []string{"user32"}}
}
