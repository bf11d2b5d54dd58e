package pipeline

import (
	"fmt"
	"path"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
)

// Distribution is what spreads tables over several servers.
type Distribution string

// The distributions there are. Nowhere is that of one PostgreSQL server.
const (
	Nowhere Distribution = ""
	Citus   Distribution = "citus"
)

// DistributionOf returns the distribution of that name, and an error for a name
// that is none.
func DistributionOf(name string) (Distribution, error) {
	switch d := Distribution(name); d {
	case Nowhere, Citus:
		return d, nil
	}
	return Nowhere, fmt.Errorf("there is no distribution %q: choose %s", name, Citus)
}

// Option is a wish beside what is always generated.
type Option func(*way)

// DistributedOver asks for the file that distributes the tables. Without it the file
// is neither made nor missed, and one that is there is left alone.
func DistributedOver(d Distribution) Option {
	return func(w *way) { w.distribution = d }
}

func (w way) with(options []Option) way {
	for _, o := range options {
		o(&w)
	}
	return w
}

// citusFile lies outside the migrations, which plain PostgreSQL must be able to run.
var citusFile = path.Join(Gen, "citus.sql")

// distributable reports the machines that the distribution cannot have.
func distributable(d Distribution, machines []*model.Machine, problems *diag.List) {
	if d != Citus {
		return
	}
	for _, m := range machines {
		gensql.Distributable(m, problems)
	}
}

// distribute adds the file that distributes the tables, if one is wanted and there
// are tables.
func distribute(d Distribution, machines []*model.Machine, l *landed, set *fileset.Set) error {
	var schemas []gensql.Schema
	for _, m := range machines {
		if s := l.schema(m.Name); m.Table != nil && s != nil {
			schemas = append(schemas, *s)
		}
	}
	if d != Citus || len(schemas) == 0 {
		return nil
	}
	return set.Add(citusFile, gensql.Citus(schemas))
}
