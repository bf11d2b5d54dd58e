package studio

import "github.com/pawl-go/pawl/internal/wording"

// unaskedPart answers for the pages of a database where none was named, since their
// addresses are sent around and kept: they say what is missing. With a database it
// is empty.
func unaskedPart(s *Studio) (part, error) {
	if s.options.Database != "" {
		return part{}, nil
	}
	var p part
	for _, pattern := range []string{"/m/{machine}/live", "/m/{machine}/rows/{key...}", "/find", "/lags"} {
		p.routes = append(p.routes, route{pattern, func(*visit) error { return &noDatabase{} }})
	}
	return p, nil
}

// noDatabase is the error of a page that needs a database where none was named.
type noDatabase struct{}

func (*noDatabase) Error() string { return unasked.EN }

var unasked = wording.Phrase{
	EN: "This page shows the rows of a database: start fsmgen studio with --database URL.",
	ZH: "此页面显示数据库中的行：启动 fsmgen studio 时请加上 --database URL。",
}
