// Package sweep reads a result whose variants are the points of a grid: a table
// by point, the Pareto front of cost against risk, and the point that has least
// of something while it meets constraints, with how sure that is. It also plans
// a sweep: which points are measured in which order, and what is missing.
//
// It is pure: results in, text and numbers out, randomness from seeds that it is
// given. Measuring, files and terminals are for package cli.
package sweep
