package session

import "strings"

// compatible reports whether two protocol numbers go together. Both have two or three numeric parts.
// While either side is below 1.0 the first two parts must be equal, from 1.0 on the first alone; the
// last part of a number below 1.0 never matters, so 0.2 goes with 0.2.7 (Spec SP-VER-03 to -10).
func compatible(server, client string) bool {
	a, b := parts(server), parts(client)
	if a[0] != b[0] {
		return false
	}
	return a[0] != "0" || a[1] == b[1]
}

// parts splits a number into its parts without leading zeros. They stay text, because a client may
// report one of any length.
func parts(version string) []string {
	list := strings.Split(version, ".")
	for i, part := range list {
		if list[i] = strings.TrimLeft(part, "0"); list[i] == "" {
			list[i] = "0"
		}
	}
	return list
}
