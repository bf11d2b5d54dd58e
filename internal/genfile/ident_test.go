package genfile

import (
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, exported, unexported string }{
		{"payment_succeeded", "PaymentSucceeded", "paymentSucceeded"},
		{"in transit", "InTransit", "inTransit"},
		{"pre-auth", "PreAuth", "preAuth"},
		{"a::b", "AB", "aB"},
		{"待支付", "X待支付", "待支付"},
		{"已支付_ok", "X已支付Ok", "已支付Ok"},
		{"3ds", "X3ds", "x3ds"},
		{"order_id", "OrderID", "orderID"},
		{"orderId", "OrderID", "orderID"},
		{"order_ids", "OrderIDs", "orderIDs"},
		{"OrderIDs", "OrderIDs", "orderIDs"},
		{"id", "ID", "id"},
		{"id_order", "IDOrder", "idOrder"},
		{"callback_url", "CallbackURL", "callbackURL"},
		{"HTTPServer", "HTTPServer", "httpServer"},
		{"http_api_json_sql_uuid", "HTTPAPIJSONSQLUUID", "httpAPIJSONSQLUUID"},
		{"PENDING", "Pending", "pending"},
		{"IN_TRANSIT", "InTransit", "inTransit"},
		{"Paid", "Paid", "paid"},
		{"x", "X", "x"},
		{"a_1_2", "A1_2", "a1_2"},
		{"a_12", "A12", "a12"},
		{"", "X", "x"},
		{"---", "X", "x"},
		{"🙂", "X", "x"},
		{"type", "Type", "type_"},
		{"String", "String", "string_"},
		{"init", "Init", "init_"},
		{"_private", "Private", "private"},
		{"été", "Été", "été"},
		{"ǅ", "Ǆ", "ǆ"},
		{"ß", "Xß", "ß"},
		{"a\x00\xffb", "AB", "aB"},
		{"١٢", "X١٢", "x١٢"},
	} {
		require.Equal(t, c.exported, Exported(c.in), "exported %q", c.in)
		require.Equal(t, c.unexported, Unexported(c.in), "unexported %q", c.in)
	}
}

// A first letter is a letter and not a byte; what begins with none stays.
func TestCapitalAndSmall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, capital, small string }{
		{"paid", "Paid", "paid"}, {"Paid", "Paid", "paid"}, {"été", "Été", "été"}, {"İptal", "İptal", "iptal"},
		{"ǆet", "Ǆet", "ǆet"}, {"\u212aick", "\u212aick", "kick"}, {"待支付", "待支付", "待支付"}, {"3ds", "3ds", "3ds"},
		{"", "", ""}, {"\xffx", "\xffx", "\xffx"}, {"\ufffdx", "\ufffdx", "\ufffdx"},
	} {
		require.Equal(t, c.capital, Capital(c.in), "capital of %q", c.in)
		require.Equal(t, c.small, Small(c.in), "small of %q", c.in)
	}
}

func TestSafeIdent(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"func": "func_", "range": "range_", "error": "error_", "any": "any_", "nil": "nil_", "len": "len_",
		"iota": "iota_", "max": "max_", "_": "__", "init": "init_", "order": "order", "Func": "Func",
	} {
		require.Equal(t, want, SafeIdent(in))
	}
}

func FuzzIdentifiers(f *testing.F) {
	f.Add("order_id")
	f.Add("3 ds ǅ ß 待")
	f.Fuzz(func(t *testing.T, name string) {
		exported, unexported := Exported(name), Unexported(name)
		require.True(t, token.IsIdentifier(exported) && token.IsExported(exported), "%q", exported)
		require.True(t, token.IsIdentifier("State"+exported))
		require.True(t, token.IsIdentifier(unexported) && !token.IsExported(unexported), "%q", unexported)
		require.False(t, reservedWord(unexported))
	})
}
