package admin

import "testing"

func TestTitle(t *testing.T) {
	want := 3
	if Title("eu") != "relay: eu" {
		t.Error("title")
	}
	Handler(nil)
}
