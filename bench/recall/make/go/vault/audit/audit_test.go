package audit

import (
	"fmt"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	for _, who := range []string{"ci", "deploy", "backup", "console"} {
		for _, what := range []string{"read", "write", "list", "delete", "rotate", "seal", "unseal"} {
			for _, ok := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s_%s_%t", who, what, ok), func(t *testing.T) {
					e := Entry{who, what, ok}
					t.Logf("line: %s", Line(e))
					if Line(e) == "" {
						t.Error("empty")
					}
				})
			}
		}
	}
}

func TestDenied(t *testing.T) {
	list := []Entry{{"ci", "read", true}, {"ci", "delete", false}, {"deploy", "write", true}}
	if got := Denied(list); got != 1 {
		t.Errorf("Denied = %d, want 1", got)
	}
}

func TestFlush(t *testing.T) {
	time.Sleep(1200 * time.Millisecond)
	t.Skip("no disk quota on this machine")
}
