package sqlexpr

import (
	"sort"
	"strings"
)

// functions has what a fragment may call: immutable functions, and those that
// depend on no more than the session's time zone, with the category of their
// value where it is always the same.
var functions = map[string]Category{
	"abs": Number, "ceil": Number, "ceiling": Number, "div": Number, "exp": Number, "floor": Number, "gcd": Number, "lcm": Number,
	"ln": Number, "log": Number, "mod": Number, "power": Number, "round": Number, "sign": Number, "sqrt": Number,
	"trunc": Number, "width_bucket": Number,

	"ascii": Number, "bit_length": Number, "char_length": Number, "character_length": Number, "length": Number,
	"octet_length": Number, "position": Number, "strpos": Number,
	"btrim": Unknown, "substr": Unknown, "substring": Unknown, "overlay": Unknown,
	"chr": String, "concat": String, "concat_ws": String, "encode": String, "format": String, "initcap": String, "left": String,
	"lower": Unknown, "lpad": String, "ltrim": Unknown, "md5": String, "regexp_replace": String, "repeat": String,
	"replace": String, "reverse": Unknown, "right": String, "rpad": String, "rtrim": Unknown, "split_part": String,
	"translate": String, "upper": Unknown,
	"regexp_like": Boolean, "starts_with": Boolean,
	"decode": Bytes, "sha256": Bytes,
	"like_escape": Unknown, "similar_to_escape": Unknown,

	"date_bin": Unknown, "date_part": Number, "date_trunc": Unknown, "extract": Number, "isfinite": Boolean,
	"justify_days": value, "justify_hours": value, "justify_interval": value,
	"make_date": Time, "make_interval": value, "make_timestamptz": Time, "overlaps": Boolean,
	"timezone": Unknown, "to_timestamp": Time,

	"jsonb_array_length": Number, "jsonb_build_array": JSON, "jsonb_build_object": JSON, "jsonb_extract_path": JSON,
	"jsonb_extract_path_text": String, "jsonb_insert": JSON, "jsonb_set": JSON, "jsonb_strip_nulls": JSON,
	"jsonb_typeof": String, "to_jsonb": JSON,

	"array_length": Number, "cardinality": Number, "num_nonnulls": Number, "num_nulls": Number,
}

// Functions returns the names of the functions that a fragment may call, sorted.
func Functions() []string {
	names := []string{"coalesce", "nullif", "greatest", "least", "trim", "now"}
	for name := range functions {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

var aggregates = words(`any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp every
	grouping json_agg json_object_agg jsonb_agg jsonb_object_agg max min mode percentile_cont percentile_disc range_agg
	regr_avgx regr_slope stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance xmlagg
	row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value`)

var setReturning = words(`generate_series generate_subscripts unnest regexp_matches regexp_split_to_table string_to_table
	json_array_elements json_array_elements_text json_each json_each_text json_object_keys json_populate_recordset json_to_recordset
	jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys jsonb_path_query
	jsonb_populate_recordset jsonb_to_recordset`)

var volatile = words(`clock_timestamp statement_timestamp transaction_timestamp timeofday age random random_normal setseed
	gen_random_uuid gen_random_bytes uuid_generate_v1 uuid_generate_v4 uuidv4 uuidv7 nextval currval lastval setval
	current_setting set_config current_database current_schema current_schemas current_query version
	inet_client_addr inet_client_port inet_server_addr inet_server_port has_table_privilege row_security_active
	query_to_xml table_to_xml database_to_xml ts_stat xmin notify`)

// isVolatile reports whether a function is known to read from outside of the
// row and the parameters, or to have an effect.
func isVolatile(name string) bool {
	if volatile[name] {
		return true
	}
	for _, prefix := range []string{"pg_", "lo_", "dblink", "txid_", "uuid_generate_", "has_", "query_to_", "currtid"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// class groups operators by what they give.
type class int

const (
	unlisted   class = iota
	comparison       // of two values of one category
	condition        // another operator that gives boolean
	arithmetic       // a number of numbers
	other            // another value
)

var operators = map[string]class{
	"=": comparison, "<>": comparison, "!=": comparison, "<": comparison, "<=": comparison, ">": comparison, ">=": comparison,
	"~": condition, "~*": condition, "!~": condition, "!~*": condition,
	"~~": condition, "!~~": condition, "~~*": condition, "!~~*": condition, "^@": condition,
	"@>": condition, "<@": condition, "?": condition, "?|": condition, "?&": condition, "&&": condition, "@?": condition, "@@": condition,
	"+": arithmetic, "-": arithmetic, "*": arithmetic, "/": arithmetic, "%": arithmetic, "^": arithmetic,
	"|/": arithmetic, "||/": arithmetic, "&": arithmetic, "|": arithmetic, "#": arithmetic, "<<": arithmetic, ">>": arithmetic,
	"||": other, "->": other, "->>": other, "#>": other, "#>>": other, "#-": other,
}

func words(text string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// Operators returns the operators that a fragment may use, sorted.
func Operators() []string {
	names := []string{}
	for name := range operators {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
