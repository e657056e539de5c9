// Command aalis is a desktop app in which a person's AI assistant lives.
package main

import "aalis/app"

func main() { app.Main() }
