package studio

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"unicode"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/revision"
	"github.com/pawl-go/pawl/internal/wording"
)

// pastError says why a revision cannot be compared with.
type pastError struct {
	what wording.Phrase
	args []any
}

func (e *pastError) Error() string { return e.what.Sprintf("en", e.args...) }

// since is the query of a page that compares with a revision.
func (v *visit) since(rev string) url.Values { return url.Values{"since": {rev}} }

// past reads the definitions as a revision has them; none where it has no such
// files. The error is a *pastError for all that the reader can change.
func (v *visit) past(rev string) ([]*model.Machine, error) {
	if len(rev) > longestRevision {
		return nil, &pastError{what: wording.Phrase{EN: "This is too long for the name of a revision.", ZH: "版本名称过长。"}}
	}
	dir := v.studio.options.Root
	if strings.ContainsFunc(rev, unicode.IsControl) { // no name that a program can be given
		return nil, v.unknown(rev, revision.ErrNoRevision)
	}
	if err := revision.Commit(v.Context(), dir, rev); err != nil {
		return nil, v.unknown(rev, err)
	}
	var definitions []pipeline.Definition
	for _, path := range v.studio.options.Paths {
		object := rev + ":./" + path
		if path == "." {
			object = rev + ":./"
		}
		fsys, err := revision.Files(v.Context(), dir, object, path, pipeline.IsDefinition)
		if errors.Is(err, revision.ErrNoPath) {
			continue
		}
		if err != nil {
			return nil, v.unknown(rev, err)
		}
		read, err := readAll(v, fsys)
		if err != nil {
			return nil, err
		}
		definitions = append(definitions, read...)
	}
	var problems diag.List
	machines, err := pipeline.Check(v.Context(), definitions, &problems)
	if err != nil {
		return nil, err
	}
	if wrong := pipeline.Untrue(&problems); len(wrong) > 0 {
		return nil, &pastError{
			wording.Phrase{EN: "%s has definitions with errors, so nothing was compared: %s", ZH: "%s 的定义有错误，未进行比较：%s"},
			[]any{rev, fmt.Sprintf("%s: %s %s", wrong[0].Pos, wrong[0].Code, wrong[0].Message)},
		}
	}
	return machines, nil
}

func readAll(v *visit, fsys fs.FS) ([]pipeline.Definition, error) {
	read, err := pipeline.Read(v.Context(), fsys, []string{"."})
	if errors.Is(err, pipeline.ErrNoDefinitions) {
		return nil, nil
	}
	return read, err
}

// unknown tells what the reader can change from what is our fault.
func (v *visit) unknown(rev string, err error) error {
	var what wording.Phrase
	switch {
	case errors.Is(err, revision.ErrNoGit):
		what = wording.Phrase{EN: "git is not installed, so nothing can be compared.", ZH: "未安装 git，无法比较。"}
	case errors.Is(err, revision.ErrNoRepository):
		what = wording.Phrase{EN: "The project is in no git repository, so there is nothing to compare with.", ZH: "项目不在 git 仓库中，没有可比较的版本。"}
	case errors.Is(err, revision.ErrNoRevision), errors.Is(err, revision.ErrNoCommit), errors.Is(err, revision.ErrNoPath):
		return &pastError{wording.Phrase{EN: "The repository has no revision %q.", ZH: "仓库中没有版本 %q。"}, []any{rev}}
	case errors.Is(err, revision.ErrLink):
		what = wording.Phrase{EN: "A definition is a symbolic link in that revision, which is not followed.", ZH: "该版本中有定义是符号链接，不会跟随。"}
	default:
		return err
	}
	return &pastError{what: what}
}
