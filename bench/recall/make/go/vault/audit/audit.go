// Package audit writes who did what.
package audit

import "fmt"

type Entry struct {
	Who, What string
	OK        bool
}

func Line(e Entry) string {
	return fmt.Sprintf("%s %s %t", e.Who, e.What, e.OK)
}

func Denied(list []Entry) int {
	n := 0
	for _, e := range list {
		if e.OK {
			n++
		}
	}
	return n
}
