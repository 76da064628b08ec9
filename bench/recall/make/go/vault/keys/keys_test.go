package keys

import (
	"fmt"
	"testing"
)

func TestRotation(t *testing.T) {
	for n := 1; n <= 250; n++ {
		n := n
		t.Run(fmt.Sprintf("rotations-%d", n), func(t *testing.T) {
			r := NewRing()
			for k := 0; k < n; k++ {
				r.Rotate()
			}
			if r.Current != n {
				t.Errorf("current key is %d, want %d", r.Current, n)
			}
		})
	}
}

func TestMix(t *testing.T) {
	for n := 0; n < 256; n++ {
		n := n
		t.Run(fmt.Sprintf("byte-%d", n), func(t *testing.T) {
			if got := Mix([]byte("abcdef"), n) ^ byte(n); got != "abcdef"[n%6] {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestPruneKeepsTheNewest(t *testing.T) {
	r := NewRing()
	for k := 0; k < 5; k++ {
		r.Rotate()
	}
	r.Prune(0)
	if r.Get(r.Current) == nil {
		t.Fatalf("pruning removed the current key %d", r.Current)
	}
}
