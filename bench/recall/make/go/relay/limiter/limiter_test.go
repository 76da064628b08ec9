package limiter

import (
	"fmt"
	"testing"
	"time"
)

func TestBurst(t *testing.T) {
	for size := 1; size <= 120; size++ {
		size := size
		t.Run(fmt.Sprintf("size_%03d", size), func(t *testing.T) {
			b := New(size, 1)
			for k := 0; k < size; k++ {
				if !b.Allow(0) {
					t.Fatalf("request %d of %d refused", k+1, size)
				}
			}
			if b.Allow(0) {
				t.Errorf("request %d allowed in a bucket of %d", size+1, size)
			}
		})
	}
}

func TestRefillIsCapped(t *testing.T) {
	for _, idle := range []int64{0, 1, 5, 10, 60, 3600} {
		t.Run(fmt.Sprintf("idle_%ds", idle), func(t *testing.T) {
			b := New(10, 2)
			b.Allow(idle)
			t.Logf("after %d s: %d tokens", idle, b.Tokens())
			if b.Tokens() > 10 {
				t.Errorf("bucket of 10 holds %d tokens after %d s", b.Tokens(), idle)
			}
		})
	}
}

func TestClockGoingBack(t *testing.T) {
	b := New(3, 1)
	b.Allow(100)
	before := b.Tokens()
	b.Allow(40)
	if got := b.Tokens(); got < before-1 {
		t.Errorf("clock went back 60 s: tokens fell from %d to %d", before, got)
	}
}

func TestSoak(t *testing.T) {
	b := New(50, 5)
	deadline := time.Now().Add(1700 * time.Millisecond)
	for time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
		b.Allow(0)
	}
}
