package studio

import "github.com/pawl-go/pawl/internal/wording"

// noDatabase is the error of a page that needs a database where none was named.
type noDatabase struct{}

func (*noDatabase) Error() string { return unasked.EN }

var unasked = wording.Phrase{
	EN: "This page shows the rows of a database: start fsmgen studio with --database URL.",
	ZH: "此页面显示数据库中的行：启动 fsmgen studio 时请加上 --database URL。",
}
