package studio

import "github.com/pawl-go/pawl/internal/wording"

// unasked is the error of a page that needs a database where none was named.
var unasked = &notFound{
	title: wording.Phrase{EN: "No database was named", ZH: "未指定数据库"},
	what: wording.Phrase{
		EN: "This page shows the rows of a database: start fsmgen studio with --database URL.",
		ZH: "此页面显示数据库中的行：启动 fsmgen studio 时请加上 --database URL。",
	},
}
