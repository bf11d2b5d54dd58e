// Command fsmgen turns transition tables into guarded PostgreSQL statements, a
// typed Go API over them, and the migrations that they need.
package main

import (
	"os"

	"github.com/pawl-go/pawl/internal/cli"
)

func main() { os.Exit(cli.Main()) }
