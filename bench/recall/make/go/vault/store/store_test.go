package store

import (
	"fmt"
	"reflect"
	"testing"
)

func TestPutGet(t *testing.T) {
	for _, team := range []string{"api", "web", "mobile", "data", "ops", "billing"} {
		for n := 1; n <= 60; n++ {
			path := fmt.Sprintf("%s/db/%03d", team, n)
			t.Run(path, func(t *testing.T) {
				s := New()
				s.Put(path, "value")
				if got, err := s.Get(path); err != nil || got != "value" {
					t.Errorf("%s: %q, %v", path, got, err)
				}
			})
		}
	}
}

func TestListIsSorted(t *testing.T) {
	s := New()
	s.Put("web/a", "1")
	s.Put("api/a", "2")
	if got, want := s.List(), []string{"api", "web"}; !reflect.DeepEqual(got, want) {
		t.Errorf("List() = %v, want %v", got, want)
	}
}

func TestMissingPath(t *testing.T) {
	s := New()
	s.Put("api/db/main", "x")
	if _, err := s.Get("api/cache/main"); err != ErrNotFound {
		t.Errorf("err = %v", err)
	}
}

func TestNeverReached(t *testing.T) {
	t.Log("runs after the panic")
}
