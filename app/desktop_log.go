//go:build desktop || dev

package app

import "log/slog"

// wailsLog passes the toolkit's lines on to ours.
type wailsLog struct{ log *slog.Logger }

func (l wailsLog) Print(message string)   { l.log.Debug("window", "message", message) }
func (l wailsLog) Trace(message string)   { l.log.Debug("window", "message", message) }
func (l wailsLog) Debug(message string)   { l.log.Debug("window", "message", message) }
func (l wailsLog) Info(message string)    { l.log.Info("window", "message", message) }
func (l wailsLog) Warning(message string) { l.log.Warn("window", "message", message) }
func (l wailsLog) Error(message string)   { l.log.Error("window", "message", message) }
func (l wailsLog) Fatal(message string)   { l.log.Error("window", "message", message) }
