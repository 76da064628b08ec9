// Package admin has the handlers of the admin page.
package admin

func Title(name string) string { return "relay: " + name }
