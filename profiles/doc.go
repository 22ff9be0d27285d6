// Package profiles holds what a run is: the schema of a profile, its strict
// parser, its variants, and the profiles that are shipped with the program.
//
// One table of keys (keys.go) names every setting with type, unit, default,
// bounds and a line of help. Parsing, defaults, --set, variants, the listing
// and the suggestions after a typing error all read that table, so a key that
// is added there is known everywhere.
//
// Parsing is strict and tells everything that is wrong in one go. Each problem
// reads FILE:LINE:COL: what is wrong; what would be right. A value that the
// design knows but this version does not build yet is refused by name, never
// ignored.
//
// The package is pure apart from Load, which reads one file. It knows nothing
// of the other rooms and runs nothing.
package profiles
