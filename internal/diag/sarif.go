package diag

import (
	"io"
	"net/url"
	"strings"
)

const sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"

// base is the root that the URIs of files are relative to.
const base = "PROJECTROOT"

// Tool is what a SARIF log says of its maker beside the name fsmgen.
type Tool struct {
	// Version is left out when it is empty.
	Version string
	// Home is where the tool is at home, and left out when it is empty.
	Home string
	// RuleHelp gives the address of a rule's documentation; nil, or an empty
	// answer, for none.
	RuleHelp func(Code) string
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool            `json:"tool"`
	Bases      map[string]sarifBase `json:"originalUriBaseIds"`
	ColumnKind string               `json:"columnKind"`
	Results    []sarifResult        `json:"results"`
}

// sarifBase has no URI: where the project stands is for the reader to know, and
// a log says the same wherever it was made.
type sarifBase struct {
	Description sarifText `json:"description"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri,omitempty"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string      `json:"id"`
	ShortDescription sarifText   `json:"shortDescription"`
	FullDescription  *sarifText  `json:"fullDescription,omitempty"`
	Help             *sarifText  `json:"help,omitempty"`
	HelpURI          string      `json:"helpUri,omitempty"`
	Default          sarifConfig `json:"defaultConfiguration"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex *int            `json:"ruleIndex,omitempty"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
	// Suppressions is there for what was waived, and then has one entry.
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI       string `json:"uri"`
	URIBaseID string `json:"uriBaseId"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

// SARIF writes the sorted problems as a SARIF 2.1.0 log of one run by the tool
// "fsmgen". What was waived is there too, as suppressed in the source. Files are
// relative to a base called PROJECTROOT. The rules are listed in the order given;
// a problem whose code is not among them is still written, without a rule index.
// An empty list writes a run without results. The error is the writer's.
func (l *List) SARIF(w io.Writer, tool Tool, rules []Rule) error {
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: "fsmgen", Version: tool.Version, InformationURI: tool.Home, Rules: []sarifRule{},
		}},
		Bases:      map[string]sarifBase{base: {sarifText{"The root of the project: the folder that fsmgen was run in, or its -C."}}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	index := make(map[Code]int, len(rules))
	for _, rule := range rules {
		if _, seen := index[rule.Code]; seen {
			continue // SARIF wants the ids of rules to be unique
		}
		index[rule.Code] = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID:               string(rule.Code),
			ShortDescription: sarifText{rule.Short},
			FullDescription:  optionalText(rule.Cause),
			Help:             optionalText(rule.Fix),
			HelpURI:          tool.help(rule.Code),
			Default:          sarifConfig{rule.Severity.String()},
		})
	}
	resultOf := func(p Problem) sarifResult {
		result := sarifResult{
			RuleID:  string(p.Code),
			Level:   p.Severity.String(),
			Message: sarifText{p.Message},
		}
		if i, ok := index[p.Code]; ok {
			result.RuleIndex = &i
		}
		if p.Pos.File != "" {
			result.Locations = []sarifLocation{sarifPlace(p.Pos)}
		}
		return result
	}
	for _, p := range l.Sorted() {
		run.Results = append(run.Results, resultOf(p))
	}
	for _, w := range l.Waived() {
		result := resultOf(w.Problem)
		result.Suppressions = []sarifSuppression{{"inSource", w.Reason}}
		run.Results = append(run.Results, result)
	}
	return Encode(w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func (t Tool) help(code Code) string {
	if t.RuleHelp == nil {
		return ""
	}
	return t.RuleHelp(code)
}

func optionalText(s string) *sarifText {
	if s == "" {
		return nil
	}
	return &sarifText{s}
}

func sarifPlace(pos Position) sarifLocation {
	// A URI has forward slashes and escapes, whatever the system.
	uri := url.URL{Path: strings.ReplaceAll(pos.File, `\`, "/")}
	place := sarifPhysical{Artifact: sarifArtifact{uri.String(), base}}
	if pos.Line > 0 {
		place.Region = &sarifRegion{StartLine: pos.Line, StartColumn: pos.Col}
	}
	return sarifLocation{place}
}
