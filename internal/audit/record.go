package audit

import (
	"encoding/binary"
	"fmt"
)

// What a record is, in the order in which they come at one version.
const (
	ofRow = iota
	ofEntry
	ofFact
)

// record is one row, history entry or fact, in the columns of lifecycle.stream.
// Its texts are valid until the next record is read; nil is NULL.
type record struct {
	key     []byte
	of      int
	version int64
	event   []byte
	from    []byte
	// to is what the row's status column holds, or where entry or fact led.
	to []byte
	// flag is: the row has a deadline, the entry is forced, the identity is empty.
	flag bool
	// bad is: the deadline is overdue, the entry lacks actor or reason.
	bad bool
	// runs is how often the row's deadline ran.
	runs int64
	// outcome is the fact's.
	outcome []byte
}

// decode reads the binary columns of lifecycle.stream.
func (r *record) decode(columns [][]byte) error {
	if len(columns) != 10 {
		return fmt.Errorf("a record of %d columns", len(columns))
	}
	of, err := integer(columns[1])
	if err != nil {
		return err
	}
	version, err := integer(columns[2])
	if err != nil {
		return err
	}
	runs, err := integer(columns[8])
	if err != nil {
		return err
	}
	*r = record{
		key: columns[0], of: int(of), version: version, event: columns[3], from: columns[4], to: columns[5],
		flag: truth(columns[6]), bad: truth(columns[7]), runs: runs, outcome: columns[9],
	}
	return nil
}

// integer reads a bigint; NULL is 0, which no version is.
func integer(b []byte) (int64, error) {
	if b == nil {
		return 0, nil
	}
	if len(b) != 8 {
		return 0, fmt.Errorf("a bigint of %d bytes", len(b))
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

// truth reads a boolean; NULL is false.
func truth(b []byte) bool { return len(b) == 1 && b[0] != 0 }
