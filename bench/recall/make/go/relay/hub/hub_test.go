package hub

import (
	"fmt"
	"testing"
)

func TestFanOut(t *testing.T) {
	for subs := 1; subs <= 150; subs++ {
		subs := subs
		t.Run(fmt.Sprintf("subscribers=%d", subs), func(t *testing.T) {
			h := New()
			for k := 0; k < subs; k++ {
				h.Subscribe("news", 1)
			}
			if got := h.Publish("news", "hello"); got != subs {
				t.Errorf("delivered %d, want %d", got, subs)
			}
		})
	}
}

func TestPrefixEndsAtSlash(t *testing.T) {
	h := New()
	h.Subscribe("fleet/1", 1)
	if got := h.Publish("fleet/17", "x"); got != 0 {
		t.Errorf("fleet/17 reached %d subscribers of fleet/1", got)
	}
}

func TestLostMessagesAreCounted(t *testing.T) {
	h := New()
	h.Subscribe("slow", 2)
	for k := 0; k < 5; k++ {
		h.Publish("slow", fmt.Sprint(k))
	}
	if h.Lost != 3 {
		t.Errorf("Lost = %d, want 3", h.Lost)
	}
}

func TestRemote(t *testing.T) {
	t.Skip("set RELAY_ADDR to run against a server")
}
