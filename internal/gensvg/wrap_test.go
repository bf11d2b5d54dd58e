package gensvg

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// No line begins with a mark that closes, nor ends with one that opens, however wide it is.
func TestLinesKeepMarksWithTheirWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"order_paid（补偿：状态不变，只记录一次，留待处理；真的吗？是的！）（凡状态不变时）",
		"支付「成功」、退款『完成』，参见《手册》【一】：结束。",
	} {
		for limit := 60; limit < 400; limit++ {
			for _, line := range wrap(text, fontLegend, limit) {
				first, _ := utf8.DecodeRuneInString(line)
				last, _ := utf8.DecodeLastRuneInString(line)
				require.NotContains(t, "\u3001\u3002\u300b\u300d\u300f\u3011\uff01\uff09\uff0c\uff1a\uff1b\uff1f", string(first), "%d: %s", limit, line)
				require.NotContains(t, "\u300a\u300c\u300e\u3010\uff08", string(last), "%d: %s", limit, line)
			}
		}
	}
}
