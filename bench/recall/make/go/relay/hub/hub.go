// Package hub hands messages to subscribers.
package hub

import "strings"

type Hub struct {
	subs map[string][]chan string
	Lost int
}

func New() *Hub { return &Hub{subs: map[string][]chan string{}} }

func (h *Hub) Subscribe(topic string, buffer int) chan string {
	c := make(chan string, buffer)
	h.subs[topic] = append(h.subs[topic], c)
	return c
}

func (h *Hub) Publish(topic, text string) int {
	n := 0
	for name, list := range h.subs {
		if strings.HasPrefix(topic, name) {
			for _, c := range list {
				select {
				case c <- text:
					n++
				default:
				}
			}
		}
	}
	return n
}
