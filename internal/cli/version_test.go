package cli

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "fsmgen (devel)"},
		{&debug.BuildInfo{}, "fsmgen (devel)"},
		{&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "v1.2.3"}}, "fsmgen v1.2.3 go1.26.0"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v0.0.0", Replace: &debug.Module{Path: "../pawl"}}}, "fsmgen (devel)"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.2.4"}}}, "fsmgen v1.2.4"},
		{&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.modified", Value: "true"},
		}}, "fsmgen (devel) revision 0123abc (modified)"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v1.0.0"}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.modified", Value: "false"},
		}}, "fsmgen v1.0.0 revision 0123abc"},
	} {
		require.Equal(t, c.want, versionLine(c.info))
	}
}
