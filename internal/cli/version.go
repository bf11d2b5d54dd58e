package cli

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
)

// home is where the module's path says that it is.
const home = "https://github.com/pawl-go/pawl"

// runVersion prints which fsmgen this is.
func runVersion(_ context.Context, k *call) int {
	if len(k.args) > 0 {
		return k.fail(fmt.Errorf("version takes no arguments: %q", k.args))
	}
	info, _ := debug.ReadBuildInfo()
	_, _ = fmt.Fprintln(k.out, versionLine(info))
	return exitFine
}

// tool is what a SARIF log says of fsmgen.
func tool() diag.Tool {
	info, _ := debug.ReadBuildInfo()
	return diag.Tool{Version: version(info), Home: home, RuleHelp: func(code diag.Code) string {
		return home + "/blob/HEAD/docs/rules.md#" + strings.ToLower(string(code))
	}}
}

// version is that of the module, as Go knows it: (devel) where it knows none.
func version(info *debug.BuildInfo) string {
	switch {
	case info == nil || info.Main.Version == "":
		return "(devel)"
	case info.Main.Replace != nil && info.Main.Replace.Version == "": // a folder, whatever go.mod calls it
		return "(devel)"
	case info.Main.Replace != nil:
		return info.Main.Replace.Version
	}
	return info.Main.Version
}

// versionLine has the version and, as far as they are known, the revision that
// it was built from and the Go that built it.
func versionLine(info *debug.BuildInfo) string {
	parts := []string{"fsmgen", version(info)}
	if info == nil {
		return strings.Join(parts, " ")
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" {
		parts = append(parts, "revision", revision)
		if settings["vcs.modified"] == "true" {
			parts = append(parts, "(modified)")
		}
	}
	if info.GoVersion != "" {
		parts = append(parts, info.GoVersion)
	}
	return strings.Join(parts, " ")
}
