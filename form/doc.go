// Package form implements structured forms, version 1: an agent asks a person for typed values
// instead of free text, and gets them as one JSON object.
//
// A console reads an agent's definition with [Parse], draws the [Form] that comes of it, and turns
// what a person entered into an answer with [Form.Check]. An agent describes the same Form in Go,
// sends what [Form.Definition] makes of it, and reads the answer with [Form.DecodeAnswer]. An author
// of definitions asks [Inspect] what is wrong with one.
//
// Definitions are data from strangers. Nothing in one is evaluated, fetched or treated as markup; no
// pattern is run; time and memory are in proportion to its size, which is limited. Numbers keep
// every digit, whatever their size.
package form
