// Package grants holds no code: its tests run gen/roles.sql on a real server, in
// both forms, and try what each role may do, and what it must not be able to.
package grants
