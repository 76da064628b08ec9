// Package keys derives and rotates keys.
package keys

import "fmt"

type Ring struct {
	Current int
	keys    map[int][]byte
}

func NewRing() *Ring { return &Ring{keys: map[int][]byte{0: []byte("k0")}} }

func (r *Ring) Rotate() int {
	r.Current++
	r.keys[r.Current] = []byte(fmt.Sprintf("k%d", r.Current))
	return r.Current
}

func (r *Ring) Get(id int) []byte { return r.keys[id] }

func (r *Ring) Prune(keep int) {
	for id := range r.keys {
		if id <= r.Current-keep {
			delete(r.keys, id)
		}
	}
}

func Mix(key []byte, n int) byte { return key[n%len(key)] ^ byte(n) }
