// Package genroles renders who may do what in the database: roles with the least
// that each needs, and functions that make the machines' statements the only way to
// write. It goes by the statements themselves, as sqlc has read them; what they say
// is gensql's business.
package genroles
