// Command gen writes the published contracts. It runs in any folder of the module.
package main

import (
	"fmt"
	"os"

	"aalis/backend/contract"
)

func main() {
	root, err := contract.Root(".")
	if err == nil {
		var written []string
		written, err = contract.Write(root)
		for _, name := range written {
			fmt.Println("wrote", name)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
