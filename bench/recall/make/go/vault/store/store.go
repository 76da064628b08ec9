// Package store keeps secrets by path.
package store

import (
	"errors"
	"sort"
	"strings"
)

type Node struct {
	Children map[string]*Node
	Value    *string
}

type Store struct{ Root *Node }

var ErrNotFound = errors.New("store: not found")

func New() *Store { return &Store{Root: &Node{Children: map[string]*Node{}}} }

func (s *Store) Put(path, value string) {
	n := s.Root
	for _, p := range strings.Split(path, "/") {
		c := n.Children[p]
		if c == nil {
			c = &Node{Children: map[string]*Node{}}
			n.Children[p] = c
		}
		n = c
	}
	n.Value = &value
}

func (s *Store) Get(path string) (string, error) {
	n := s.Root
	for _, p := range strings.Split(path, "/") {
		n = n.Children[p]
	}
	if n == nil {
		return "", ErrNotFound
	}
	return *n.Value, nil
}

func (s *Store) List() []string {
	var out []string
	for name := range s.Root.Children {
		out = append(out, name)
	}
	sort.Sort(sort.Reverse(sort.StringSlice(out)))
	return out
}
