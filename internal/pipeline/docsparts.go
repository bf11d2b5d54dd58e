package pipeline

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/gendiagram"
	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/genmatrix"
	"github.com/pawl-go/pawl/internal/gensuite"
	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// Drawn renders the pictures and the matrix of a machine in one language, with
// their files to download.
func Drawn(m *model.Machine, lang string) (gendocs.Parts, error) {
	var parts gendocs.Parts
	if err := docsDrawings(m, lang, &parts); err != nil {
		return parts, err
	}
	if err := docsDiagrams(m, lang, &parts); err != nil {
		return parts, err
	}
	return parts, docsMatrix(m, lang, &parts)
}

// docsDrawings adds the pictures that stand in the pages, and the one to download.
// A machine that is too large for one picture has those of its states.
func docsDrawings(m *model.Machine, lang string, parts *gendocs.Parts) error {
	whole := picture.Of(m)
	shown := whole
	if len(m.States) > picture.Large {
		shown = whole.Overview()
		for i, s := range m.States {
			svg, err := gensvg.Fragment(whole.Slice(s), gensvg.Options{Lang: lang, ID: m.Name + "-slice" + strconv.Itoa(i), NoTitle: true})
			if err != nil {
				return err
			}
			parts.Slices = append(parts.Slices, gendocs.Slice{State: s, Picture: string(svg)})
		}
	}
	var large *gensvg.TooLarge
	svg, err := gensvg.Fragment(shown, gensvg.Options{Lang: lang, ID: m.Name, NoTitle: true})
	if errors.As(err, &large) {
		return nil
	}
	if err != nil {
		return err
	}
	parts.Picture = string(svg)
	thumb, err := gensvg.Fragment(whole.Overview(), gensvg.Options{Lang: lang, ID: m.Name + "-small", NoTitle: true, NoLegend: true})
	if err != nil {
		return err
	}
	parts.Thumb = string(thumb)
	files, err := gensvg.Render(m, gensvg.Options{Lang: lang, NoSlices: true})
	for _, f := range files {
		parts.Pictures = append(parts.Pictures, gendocs.Download{Format: "SVG", Name: f.Name, Content: f.Content})
	}
	return err
}

// docsDiagrams adds the text diagrams to download: of a large machine the overview,
// of any other all parts of the whole.
func docsDiagrams(m *model.Machine, lang string, parts *gendocs.Parts) error {
	titles := []string{"Mermaid", "Graphviz", "PlantUML"}
	for i, format := range gendiagram.Formats() {
		files, err := gendiagram.Render(m, format, gendiagram.Options{Lang: lang})
		if err != nil {
			return err
		}
		if len(m.States) > picture.Large {
			files = files[:1]
		}
		for n, f := range files {
			d := gendocs.Download{Format: titles[i], Name: f.Name, Content: f.Content}
			if n > 0 {
				d.Format += " " + strconv.Itoa(n+1)
			}
			parts.Pictures = append(parts.Pictures, d)
		}
	}
	return nil
}

// docsMatrix adds the matrix, and its files to download. One that is too large for
// a format is left out of it.
func docsMatrix(m *model.Machine, lang string, parts *gendocs.Parts) error {
	var large *genmatrix.SizeError
	table, err := genmatrix.Table(m, lang)
	if err != nil && !errors.As(err, &large) {
		return err
	}
	parts.Matrix = string(table)
	for _, format := range genmatrix.Formats() {
		files, err := genmatrix.Render(m, format, lang)
		if errors.As(err, &large) {
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range files {
			parts.Tables = append(parts.Tables, gendocs.Download{Format: formatTitles[format], Name: f.Name, Content: f.Content})
		}
	}
	return nil
}

// addSuiteFiles adds the files of every suite to download.
func addSuiteFiles(parts *gendocs.Parts, suites []*suite.Suite, lang string) error {
	parts.Suites = map[string][]gendocs.Download{}
	for _, s := range suites {
		files, err := SuiteFiles(s, lang)
		if err != nil {
			return err
		}
		parts.Suites[s.Name] = files
	}
	return nil
}

// SuiteFiles renders a suite in every format, or in those that are named.
func SuiteFiles(s *suite.Suite, lang string, formats ...string) ([]gendocs.Download, error) {
	if len(formats) == 0 {
		formats = TestFormats()
	}
	var all []gendocs.Download
	renderer := gensuite.For(s, lang)
	for _, format := range formats {
		files, err := renderer.Render(format)
		if err != nil {
			return nil, err
		}
		for i, f := range files {
			all = append(all, gendocs.Download{Format: formatTitle(format, i, f.Name, lang), Name: f.Name, Content: f.Content})
		}
	}
	return all, nil
}

// FormatTitle is what a format of suites is called on a page.
func FormatTitle(format, lang string) string { return formatTitle(format, 0, "", lang) }

var formatTitles = map[string]string{
	"md": "Markdown", "html": "HTML", "gherkin": "Gherkin", "csv": "CSV", "csv-excel": "CSV (Excel)", "xlsx": "Excel",
	"xray": "Xray", "zephyr": "Zephyr Scale", "testrail": "TestRail",
}

// formatTitle is what the file of a format is called on a page, and what the
// ones behind it are: a coverage table, a mapping, or one more of the same.
func formatTitle(format string, at int, name, lang string) string {
	title, known := formatTitles[format]
	if !known {
		title = format
	}
	switch {
	case at == 0:
		return title
	case strings.HasSuffix(name, "-coverage.csv"):
		return wording.Phrase{EN: "%s coverage", ZH: "%s 覆盖表"}.Sprintf(lang, title)
	case path.Ext(name) == ".json":
		return wording.Phrase{EN: "%s mapping", ZH: "%s 映射"}.Sprintf(lang, title)
	}
	return title + " " + strconv.Itoa(at+1)
}
