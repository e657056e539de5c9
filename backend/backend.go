// Package backend is the composition root: it opens everything in the right order, says who needs
// whom, and closes it again. It holds the lists (engines, providers, tools, protocols) and no rule of
// its own. Package app calls it; tests of the whole program do too.
//
//	Open                        lock, database, loop, approvals' clocks, recovery, services
//	Backend.Run                 serves until its context ends
//	  turn.Reactor.Run          conducts turns
//	  background.Registry.Run   has what went on without its turn
//	  room.Service.Run          takes in what is said in rooms, sends what goes out
//	  title.Run                 names what nobody named
//	  command.Commands.Run      what is said to the program and takes long
//	  core.Eraser               erases what was deleted
//	  server.Server.Run         the door
//	  then, in this order       all of these (the turns' ends are written), connections, clocks, loop, database
package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"aalis/backend/approval"
	"aalis/backend/attachment"
	"aalis/backend/background"
	"aalis/backend/blob"
	"aalis/backend/checkpoint"
	"aalis/backend/command"
	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/engine/native"
	"aalis/backend/principal"
	"aalis/backend/provider"
	"aalis/backend/provider/demo"
	"aalis/backend/provider/openai"
	"aalis/backend/room"
	"aalis/backend/room/local"
	"aalis/backend/server"
	"aalis/backend/settings"
	"aalis/backend/settings/field"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/title"
	"aalis/backend/tool"
	"aalis/backend/tool/files"
	"aalis/backend/tool/plan"
	"aalis/backend/tool/search"
	"aalis/backend/tool/shell"
	"aalis/backend/tool/subtask"
	"aalis/backend/tool/task"
	"aalis/backend/turn"
	"aalis/backend/wire/session"
)

// Config is everything the program can be told. Only DataDir is needed.
type Config struct {
	DataDir  string
	Name     string        // of the app, "" for the default
	Language text.Language // of the host while its settings name none; "" is Chinese
	Document string        // config.yaml; "" is the data folder's
	// Fixed are values of the document's top keys that stand before it: from the environment.
	Fixed    map[string]any
	Listen   []string // loopback addresses; none is a free port
	Provider provider.Config
	Kinds    map[string]provider.Kind // further provider dialects, for tests
	// Fields are settings of whoever starts the program, for the program itself: preferences whose Path
	// says where in the document they stand. Backend.Setting reads them.
	Fields []field.Field
	// LocalRooms plays a chat platform inside the program; nil: there is none.
	LocalRooms *local.Config
	Rooms      []room.Adapter         // further adapters of chat platforms, for tests
	Pages      fs.FS                  // the built interface, nil for none
	Activate   func(link string) bool // shows the window, for a second start; see server.Options
	Version    string
	Log        *slog.Logger
}

// Ready is what is known once every listener accepts.
type Ready = server.Running

// Backend is the opened program.
type Backend struct {
	config   Config
	log      *slog.Logger
	store    *store.Store
	loop     *core.Loop
	owner    *principal.OwnerToken
	approval *approval.Service
	turns    *turn.Reactor
	tasks    tasks
	bytes    *blob.Store
	kept     *blob.Store // attachments
	document *settings.Document
	settings *settings.Service
	models   *provider.Set
	groups   []native.ToolGroup
	adapters []room.Adapter
	local    *local.Adapter // nil: none is played
	rooms    *room.Service

	checkpoints *checkpoint.Service
	commands    *command.Commands
	attachments *attachment.Service
	sessions    *session.Server
	door        *server.Server
	ready       func(Ready)
	retold      []func() // of a change of the settings; not changed after Run begins

	// The loop, and the approvals that follow it, run from Open to Close: recovery writes too.
	stopLoop, stopApprovals context.CancelFunc
	loopDone, approvalsDone chan error
	once                    sync.Once
}

// providers is the list of dialects.
func providers(more map[string]provider.Kind) map[string]provider.Kind {
	all := map[string]provider.Kind{"openai": openai.Kind(), provider.DemoType: demo.Kind()}
	for name, k := range more {
		all[name] = k
	}
	return all
}

// tools is the list of tools, in groups that can be switched off. The data folder is closed to them: it
// holds the owner's token.
func tools(closed string, loop *core.Loop, tasks tasks, attached files.Attached, models *provider.Set) []native.ToolGroup {
	group := func(id string, label, about text.Key, all ...tool.Definition) native.ToolGroup {
		return native.ToolGroup{ID: id, Label: text.New(label), About: text.New(about), Tools: all}
	}
	return []native.ToolGroup{
		group("files", "settings.group-files", "settings.group-files-about", append(files.All(closed), files.SaveAttachment(attached, closed))...),
		group("search", "settings.group-search", "settings.group-search-about", search.All(closed)...),
		group("plan", "settings.group-plan", "settings.group-plan-about", plan.Update(plans{loop}.keep)),
		group("shell", "settings.group-shell", "settings.group-shell-about", shell.Exec(shell.Options{Closed: []string{closed}}), task.Read(tasks.look), task.Stop(tasks.end)),
		group("subtasks", "settings.group-subtasks", "settings.group-subtasks-about", subtask.All(subtask.Over(subtask.Options{Loop: loop, StopTasks: tasks.StopAll, Model: modelSetting(models)}))...),
	}
}

// registry puts the tools of all groups together.
func registry(groups []native.ToolGroup) *tool.Registry {
	var all []tool.Definition
	for _, g := range groups {
		all = append(all, g.Tools...)
	}
	return tool.NewRegistry(all...)
}

// Open takes the data folder and brings the log in order. A folder in use gives a *store.Locked. A
// Backend that was opened must be Run or Closed.
func Open(ctx context.Context, c Config) (*Backend, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Language == "" {
		c.Language = text.Chinese
	}
	models, err := provider.NewSet(c.Provider, providers(c.Kinds))
	if err != nil {
		return nil, fmt.Errorf("reading the providers: %w", err)
	}
	st, err := store.Open(store.Options{Dir: c.DataDir})
	if err != nil {
		return nil, err
	}
	b := &Backend{config: c, log: c.Log, store: st, approval: approval.New(approval.Options{Log: c.Log})}
	if err := b.assemble(ctx, models); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Backend) assemble(ctx context.Context, models *provider.Set) (err error) {
	b.openRooms()
	if err := b.openSettings(models); err != nil {
		return err
	}
	if b.loop, err = core.New(core.Options{Store: b.store, Admission: b.approval, Effective: b.effective, Caps: b.caps, Ruling: b.ruling, Log: b.log}); err != nil {
		return err
	}
	b.settings.Attach(b.loop)
	b.start()
	if err := core.Recover(ctx, b.loop); err != nil {
		return err
	}
	workspace := filepath.Join(b.config.DataDir, "workspace")
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		return fmt.Errorf("making the workspace: %w", err)
	}
	b.tasks = tasks{background.New(background.Options{Loop: b.loop, Foreground: b.foreground, Log: b.log})}
	if b.kept, err = blob.Open(filepath.Join(b.config.DataDir, "attachments")); err != nil {
		return err
	}
	b.attachments = attachment.New(attachment.Options{Loop: b.loop, Blobs: b.kept, Log: b.log})
	b.rooms = room.New(room.Options{Loop: b.loop, Adapters: b.adapters, Commands: roomCommands{b}, Language: b.language, Log: b.log})
	b.groups = append(tools(b.config.DataDir, b.loop, b.tasks, b.attached, b.models), roomTools{b}.groups()...)
	registry := registry(b.groups)
	bytes, err := blob.Open(filepath.Join(b.config.DataDir, "checkpoints"))
	if err != nil {
		return err
	}
	b.bytes = bytes
	b.checkpoints = checkpoint.New(checkpoint.Options{Loop: b.loop, Blobs: bytes, Closed: []string{b.config.DataDir}, Log: b.log})
	kept := checkpoints{b.checkpoints, b.language}
	folders := places{b.loop, workspace, b.config.DataDir}
	b.turns = turn.New(turn.Options{
		Loop:     b.loop,
		Engines:  map[string]engine.Engine{nativeHarness: native.New(native.Config{Name: b.config.Name, Models: b.models, Tools: registry, Groups: b.groups, Log: b.log})},
		Settings: b.resolve,
		Place:    folders.of,
		Guard:    kept.guard,
		Files:    b.attachments.Read,

		Background: b.tasks.work,
		Log:        b.log,
	})
	b.commands = b.commandsOf(folders)
	services := session.Services{Agent: agent{b.loop}, Settings: b.settings, Approvals: b.approval, Plans: true, Places: folders, Compression: b.turns, Commands: b.take, Checkpoints: kept, Attachments: b.attachments, Background: b.tasks, Display: display(registry), Usage: b.turns.Usage, Rooms: b.rooms}
	if b.local != nil {
		services.LocalRooms = localRooms{b.local}
	}
	if b.sessions, err = session.NewServer(session.Options{Name: "aalis", AppName: b.name, Language: b.language, Loop: b.loop, Log: b.log, Services: services}); err != nil {
		return err
	}
	return b.openDoor(ctx)
}

func (b *Backend) openDoor(ctx context.Context) error {
	var installation string
	err := b.store.Read(ctx, func(tx *store.ReadTx) (err error) {
		installation, err = tx.Meta("installation")
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the installation: %w", err)
	}
	if b.owner, err = principal.CreateOwnerToken(b.config.DataDir); err != nil {
		return err
	}
	authority := principal.NewAuthority(credentials{b.loop}, principal.KeyFile(filepath.Join(b.config.DataDir, "jwt.key")), b.owner)
	mounts, err := b.mounts()
	if err != nil {
		return err
	}
	b.door, err = server.New(server.Options{
		Mounts:  mounts,
		DataDir: b.config.DataDir, Installation: installation, Version: b.config.Version, Epoch: b.loop.Epoch(), Listen: b.config.Listen,
		Authority: authority, Sessions: wire{b.sessions}, Pages: b.config.Pages, Activate: b.config.Activate, Language: b.language, Log: b.log, Choices: b.Options, Files: b.files(),
		Ready: func(r server.Running) {
			if b.ready != nil {
				b.ready(r)
			}
		},
	})
	return err
}

// start runs the loop and the approvals' clocks; Close ends them in the other order and waits.
func (b *Backend) start() {
	loop, cancelLoop := context.WithCancel(context.Background())
	b.stopLoop, b.loopDone = cancelLoop, make(chan error, 1)
	go func() { b.loopDone <- b.loop.Run(loop) }()
	clocks, cancelClocks := context.WithCancel(context.Background())
	b.stopApprovals, b.approvalsDone = cancelClocks, make(chan error, 1)
	go func() { b.approvalsDone <- b.approval.Run(clocks, b.loop) }()
}

// Run serves until ctx ends or a part of it fails, and closes everything. ready is called once every
// listener accepts.
func (b *Backend) Run(ctx context.Context, ready func(Ready)) error {
	b.ready = ready
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var parts sync.WaitGroup
	var mu sync.Mutex // guards errs
	var errs []error
	run := func(name string, fn func(context.Context) error) {
		parts.Go(func() {
			defer cancel() // no part lives without the others
			if err := fn(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, core.ErrClosed) {
				mu.Lock()
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
				mu.Unlock()
			}
		})
	}
	run("turns", b.turns.Run)
	run("background tasks", b.tasks.Run)
	run("rooms", b.rooms.Run)
	run("titles", func(ctx context.Context) error {
		return title.Run(ctx, title.Options{Loop: b.loop, Ask: b.turns.Title, Log: b.log})
	})
	run("checkpoints", b.checkpoints.Run)
	run("commands", b.commands.Run)
	run("document", b.document.Watch)
	run("settings of the shell", b.followSettings)
	run("eraser", func(ctx context.Context) error { return core.Eraser(ctx, b.loop, b.sweepAttachments) })
	run("door", b.door.Run)
	parts.Wait()
	return errors.Join(append(errs, b.Close())...)
}

// Close lets go of everything. Run calls it; it may be called again.
func (b *Backend) Close() (err error) {
	b.once.Do(func() {
		if b.sessions != nil {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			b.sessions.Close(ctx)
			cancel()
		}
		if b.stopLoop != nil {
			b.stopApprovals()
			if e := <-b.approvalsDone; e != nil && !errors.Is(e, context.Canceled) && !errors.Is(e, core.ErrClosed) {
				err = fmt.Errorf("approvals: %w", e)
			}
			b.stopLoop()
			err = errors.Join(err, <-b.loopDone)
		}
		if b.owner != nil {
			err = errors.Join(err, b.owner.Remove())
		}
		for _, bytes := range []*blob.Store{b.bytes, b.kept} {
			if bytes != nil {
				err = errors.Join(err, bytes.Close())
			}
		}
		err = errors.Join(err, b.store.Close())
	})
	return err
}

// Connect opens a connection of the session protocol for the desktop window.
func (b *Backend) Connect(disconnect func(reason string), send func(frame string)) *session.Conn {
	return b.connect(principal.DesktopCaller(), disconnect, send)
}

// ConnectTray opens one for the tray and the notifications.
func (b *Backend) ConnectTray(disconnect func(reason string), send func(frame string)) *session.Conn {
	return b.connect(principal.TrayCaller(), disconnect, send)
}

func (b *Backend) connect(caller principal.Caller, disconnect func(string), send func(string)) *session.Conn {
	return b.sessions.Connect(session.Peer{Caller: caller, Surface: caller.Surface, Disconnect: disconnect}, send)
}

// InTabs reports whether somebody is at a browser tab now.
func (b *Backend) InTabs() bool { return b.sessions.Watched(principal.SurfaceWeb) }

// AtTray reports whether the tray has said that somebody is at the desk.
func (b *Backend) AtTray() bool { return b.sessions.Watched(principal.SurfaceTray) }

// Language is that of everything said to the owner, now.
func (b *Backend) Language() text.Language { return b.language() }

// Running is how many turns, and how many background tasks, run now.
func (b *Backend) Running() (turns, tasks int) { return b.turns.Running(), b.tasks.Running() }
