// Copyright 2024 Somebody. All rights reserved.

//go:build linux && !arm

// Package ledger keeps accounts. It never rounds.
package ledger

import (
	"fmt"
	"io"
)

// Version is what is written into files.
const Version = "1.2"

// Day is a day of the week.
type Day int

const (
	// Sunday is the first.
	Sunday Day = iota
	Monday
	Tuesday // the second
	_
	hidden
)

const (
	A, B = 1, "two"
	c, D = 3, 4
)

var (
	// ErrClosed says that it is closed.
	ErrClosed = fmt.Errorf("closed")
	Table     = map[string]string{
		"a": "a long value that nobody wants to read in an outline of a file like this",
	}
	private, Public int
)

var _ io.Reader = (*Ledger)(nil)

// Handler is called for each entry.
type Handler func(name string, value int) (ok bool, err error)

type Name = string

// Ledger has accounts. And more.
type Ledger struct {
	// Owner is who it belongs to.
	Owner string `json:"owner,omitempty"`
	X, y  int
	*Base
	io.Writer
	sync
	Inner struct {
		A int
		B string
	}
	secret int
}

// Store keeps things.
type Store interface {
	io.Closer
	// Get gets.
	Get(key string) ([]byte, error)
	Put(key string, value []byte) error
	private()
}

type Number interface {
	~int | ~int64 |
		~float64
	String() string
}

type List[T any, K comparable] struct {
	Items []T
	next  *List[T, K]
}

type (
	// One is grouped.
	One struct{ A int }
	two struct{ B int }
)

// New makes a ledger.
func New(owner string, options ...func(*Ledger)) (*Ledger, error) {
	return nil, nil
}

func (l *Ledger) Read(p []byte) (n int, err error) { return 0, nil }

// Push adds to the list.
func (l *List[T, K]) Push(
	item T, // what
	key K,
) *List[T, K] {
	return l
}

func (List[T, K]) Len() int { return 0 }

func (t two) Hidden() {}

func Map[T, U any](in []T, f func(T) U) []U {
	type local struct{ A int }
	return nil
}

// Assembly has no body.
func Assembly(x uint64) uint64

func helper() {}

func init() {}
