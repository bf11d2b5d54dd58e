package sqlexpr

import "strings"

// units has the names of parts of a time by their group, as the tables of
// datetime.c have them; names are told apart by their first ten characters.
var units = map[string]map[string]bool{
	"clock": words(`h hour hours hr hrs m min mins minute minutes s sec second seconds secs ms msec msecond mseconds msecs
		millisecon us usec usecond useconds usecs microsecon`),
	"date": words(`d day days mon mons month months qtr quarter quarters y year years yr yrs dec decs decade decades
		c cent century centuries mil mils millennia millennium`),
	"week":     words(`w week weeks`),
	"calendar": words(`dow doy isodow isoyear j jd julian`),
	"epoch":    words(`epoch`),
	"zone":     words(`timezone timezone_h timezone_m`),
}

// unit judges the name of a part of a time that a function is asked for.
func (t *typer) unit(function string, v typed, of string) {
	if v.text == nil {
		return
	}
	if function == "date_part" && of == "date" {
		of = "timestamp" // which it makes of the date first
	}
	name := strings.ToLower(*v.text)
	if len(name) > 10 {
		name = name[:10]
	}
	for group, names := range units {
		if names[name] && has(function, of, group) {
			return
		}
	}
	t.add(v.at, Unreadable, *v.text, "%s knows no '%s' of a value of type %s; there are %s", function, *v.text, spoken(of), offered(function, of))
}

// has reports whether a function knows the parts of a group of values of a type.
func has(function, of, group string) bool {
	trunc := function == "date_trunc"
	switch group {
	case "clock":
		return of != "date"
	case "date":
		return of != "time" && of != "timetz"
	case "week":
		// of an interval since version 18
		return of != "time" && of != "timetz" && (of != "interval" || !trunc)
	case "calendar":
		return !trunc && (of == "date" || of == "timestamp" || of == "timestamptz")
	case "epoch":
		return !trunc
	}
	return !trunc && (of == "timestamptz" || of == "timetz")
}

// offered lists the parts that people ask for.
func offered(function, of string) string {
	var names []string
	for _, g := range []struct{ group, names string }{
		{"clock", "second, minute, hour"}, {"date", "day, month, quarter, year"}, {"week", "week"}, {"calendar", "dow, doy"}, {"epoch", "epoch"},
	} {
		if has(function, of, g.group) {
			names = append(names, g.names)
		}
	}
	return strings.Join(names, ", ")
}
