// Package cli is the fsmgen command: flags, printing and exit codes. What the
// commands do is internal/pipeline's business.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-go/pawl/internal/pipeline"
)

// Exit codes.
const (
	exitFine     = 0
	exitFindings = 1 // problems were found, or output differs
	exitFailed   = 2 // usage, or reading and writing
)

// command is one verb of fsmgen.
type command struct {
	name, args, short string
	// formats are what --format may be, the default first; none for a verb that
	// prints in one way.
	formats []string
	// flags registers the verb's own flags; nil for none.
	flags func(*call)
	run   func(context.Context, *call) int
}

var (
	problemFormats = []string{"text", "json", "sarif"}
	reportFormats  = []string{"text", "json"}
)

// commands lists the verbs in the order of the help.
func commands() []command {
	return []command{
		{"init", "", "make what a project needs: core migration, migrations package, sqlc.yaml, a first definition", nil, nil, runInit},
		{"lint", "[--queries FOLDER] [--explain CODE] [FILE|FOLDER ...]", "check definitions (default: definitions/), and that no hand-written SQL goes around them", problemFormats, lintFlags, runLint},
		{"generate", "[--check] [--advance]", "write migrations, queries and Go; with --check show the difference instead", problemFormats, generateFlags, runGenerate},
		{"tables", "[PART ...]", "write the migrations of the tables that idempotent commands, tokens, inbox, relay and others work on, or list them", nil, nil, runTables},
		{"diff", "[--database URL] [OLD [NEW]]", "say what changed between two files, folders or git revisions, and whom it breaks", reportFormats, diffFlags, runDiff},
		{"docs", "DIR [--since REVISION] [FILE|FOLDER ...]", "write a folder of pages for people: pictures, matrix, test suites with their downloads, in English and Chinese", nil, docsFlags, runDocs},
		{"studio", "[--addr HOST:PORT] [--database URL] [--token TEXT] [--link TEXT=URL] [--action TEXT=URL] [--stdin] [FILE|FOLDER ...]", "open a local web page of the definitions, which follows while they are edited", nil, studioFlags, runStudio},
		{"audit", "[--database URL] [FILE|FOLDER ...]", "find rows, history, facts and outbox of a database that contradict the definitions", reportFormats, auditFlags, runAudit},
		{"check-history", "[--visualize FILE] [--timeout TIME] DEFINITION HISTORY ...", "say whether recorded calls can have been answered as they were, by the definition", reportFormats, historyFlags, runCheckHistory},
		{"diagram", "[--lang LANGUAGE] [--theme THEME] [--state STATE] [--out FOLDER] [FILE|FOLDER ...]", "draw machines", pipeline.DiagramFormats(), diagramFlags, runDiagram},
		{"matrix", "[--lang LANGUAGE] [--out FOLDER] [FILE|FOLDER ...]", "make the table of what each event does in each state", pipeline.MatrixFormats(), materialFlags, runMatrix},
		{"tests", "[--suite SUITE] [--lang LANGUAGE] [--out FOLDER] [FILE|FOLDER ...]", "make a test suite for people, or for the tool that keeps their tests", pipeline.TestFormats(), testsFlags, runTests},
		{"stats", "[FILE|FOLDER ...]", "count states, events, cells and the cases of each suite", reportFormats, nil, runStats},
		{"model", "[NAME ...]", "print the line by which a hand-written migration says what it made", nil, nil, runModel},
		{"schema", "", "print the JSON Schema of definitions, for editors (generate writes it to gen/)", nil, nil, runSchema},
		{"rules", "[CODE ...]", "list the codes of problems, or explain some", nil, nil, runRules},
		{"version", "", "print which fsmgen this is: its module's version, and the revision where it is known", nil, nil, runVersion},
	}
}

// call is one run of a verb.
type call struct {
	flags  *flag.FlagSet
	args   []string
	dir    string
	format string

	lint     lintOptions
	generate generateOptions
	diff     diffOptions
	audit    auditOptions
	material materialOptions
	docs     docsOptions
	history  historyOptions
	studio   studioOptions

	out io.Writer
	err io.Writer
}

// Main runs fsmgen with the program's own arguments and returns its exit code:
// 0 fine, 1 findings or differing output, 2 usage or input and output.
func Main() int {
	ctx, stop := interruptible()
	defer stop()
	return Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// interruptible returns a context that the first signal to stop ends; by then
// the signals have their usual effect again, so that a second one ends the
// process, whatever it is waiting for.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
		}
		signal.Stop(signals)
		cancel()
	}()
	return ctx, cancel
}

// Run is Main with everything given.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return exitFailed
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(stdout)
		return exitFine
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.parse(ctx, args[1:], stdout, stderr)
		}
	}
	_, _ = fmt.Fprintf(stderr, "fsmgen: there is no command %q%s\n", args[0], meant(args[0]))
	return exitFailed
}

// parse reads the verb's flags, which may stand before and after its arguments.
func (c command) parse(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	k := &call{flags: flag.NewFlagSet("fsmgen "+c.name, flag.ContinueOnError), out: stdout, err: stderr}
	k.flags.SetOutput(io.Discard) // what is wrong is said in one line, here
	k.flags.StringVar(&k.dir, "C", ".", "the `FOLDER` that is the root of the project; all paths are below it")
	if len(c.formats) > 0 {
		k.flags.StringVar(&k.format, "format", c.formats[0], "the `FORMAT` of the result: "+choice(c.formats))
	}
	if c.flags != nil {
		c.flags(k)
	}
	for len(args) > 0 {
		if err := k.flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				c.usage(k)
				return exitFine
			}
			return k.fail(c.badFlag(k, err))
		}
		args = k.flags.Args()
		if len(args) > 0 {
			k.args = append(k.args, args[0])
			args = args[1:]
		}
	}
	if len(c.formats) > 0 && !slices.Contains(c.formats, k.format) {
		return k.fail(fmt.Errorf("there is no format %q: choose %s", k.format, choice(c.formats)))
	}
	return c.run(ctx, k)
}

// choice lists what there is to choose from.
func choice(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// fail prints an error that is no finding.
func (k *call) fail(err error) int {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	_, _ = fmt.Fprintf(k.err, "fsmgen: %v\n", err)
	return exitFailed
}
