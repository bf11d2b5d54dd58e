// Package layout holds the packages of this module to what each may import of
// the others: the table is data, and a test reads the code against it.
package layout
