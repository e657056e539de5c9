package app

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"aalis/backend/fault"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

func (p *program) projectCommand() *cobra.Command {
	cmd := p.command("project", "command.project", "")
	list := p.command("list", "command.project-list", "")
	list.RunE = p.listPlaces
	cmd.RunE = list.RunE
	cmd.AddCommand(p.addPlaceCommand(), list, p.removePlaceCommand())
	return cmd
}

func (p *program) addPlaceCommand() *cobra.Command {
	var name string
	cmd := p.command("add DIR", "command.project-add", "  aalis project add ~/code/website --name website")
	cmd.Args = oneFolder
	cmd.Flags().StringVar(&name, "name", "", p.say("command.flag-place-name"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := filepath.Abs(args[0])
		if err != nil {
			return fmt.Errorf("finding the folder: %w", err)
		}
		l, err := p.dial(cmd)
		if err != nil {
			return err
		}
		defer l.close()
		var added session.PlaceAddResult
		if err := l.call(cmd.Context(), "ext/places/add", session.PlaceAddParams{Path: dir, Name: name}, &added); err != nil {
			return err
		}
		if p.flags.json {
			return p.printJSON(added.Place)
		}
		_, err = fmt.Fprintln(p.out, p.placeLine(added.Place))
		return err
	}
	return cmd
}

func (p *program) listPlaces(cmd *cobra.Command, _ []string) error {
	l, err := p.dial(cmd)
	if err != nil {
		return err
	}
	defer l.close()
	var list session.PlacesListResult
	if err := l.call(cmd.Context(), "ext/places/list", session.Empty{}, &list); err != nil {
		return err
	}
	if p.flags.json {
		return p.printJSON(list)
	}
	for _, place := range list.Places {
		fmt.Fprintln(p.out, p.placeLine(place))
	}
	return nil
}

func (p *program) placeLine(place session.PlaceInfo) string {
	line := fmt.Sprintf("%s  %s  %s", visibleLine(place.Key), visibleLine(place.Root), p.say("place.cli-sessions", "n", place.Sessions))
	if place.Missing {
		line += "  " + p.say("place.cli-missing")
	}
	return line
}

func (p *program) removePlaceCommand() *cobra.Command {
	cmd := p.command("remove NAME", "command.project-remove", "  aalis project remove website")
	cmd.Args = onePlace
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := p.dial(cmd)
		if err != nil {
			return err
		}
		defer l.close()
		var list session.PlacesListResult
		if err := l.call(cmd.Context(), "ext/places/list", session.Empty{}, &list); err != nil {
			return err
		}
		var names []string
		for _, place := range list.Places[1:] { // the first is the default workspace, which stays
			if args[0] == place.Name || args[0] == place.Key || args[0] == place.Root {
				return l.call(cmd.Context(), "ext/places/remove", session.PlaceRemoveParams{Key: place.Key}, &session.Empty{})
			}
			names = append(names, place.Name)
		}
		return fault.New(fault.NotFound, text.New("place.cli-none", "name", visible(args[0]), "hint", hint(args[0], names)))
	}
	return cmd
}
