// A message broker with many goroutines that crashes on a message without a header.
package main

import (
	"fmt"
	"sync"
	"time"
)

type Header struct{ Topic string }
type Message struct {
	ID     int
	Header *Header
}

type Broker struct {
	mu     sync.Mutex
	topics map[string]chan Message
	done   chan struct{}
}

func (b *Broker) route(m Message) string { return m.Header.Topic }

func (b *Broker) dispatch(m Message, hops int) {
	if hops > 0 {
		b.dispatch(m, hops-1)
		return
	}
	topic := b.route(m)
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.topics[topic] <- m:
	default:
	}
}

func (b *Broker) consume(topic string, n int) {
	for range b.topics[topic] {
		time.Sleep(time.Hour)
	}
}

func (b *Broker) heartbeat(n int) {
	t := time.NewTicker(time.Minute)
	for {
		select {
		case <-t.C:
		case <-b.done:
			return
		}
	}
}

func (b *Broker) flush(wg *sync.WaitGroup) {
	wg.Wait()
}

func main() {
	b := &Broker{topics: map[string]chan Message{}, done: make(chan struct{})}
	for _, t := range []string{"orders", "mail", "stock"} {
		b.topics[t] = make(chan Message, 4)
	}
	for i := 0; i < 60; i++ {
		go b.consume("orders", i)
		go b.consume("mail", i)
	}
	for i := 0; i < 25; i++ {
		go b.heartbeat(i)
	}
	wg := &sync.WaitGroup{}
	wg.Add(1)
	for i := 0; i < 5; i++ {
		go b.flush(wg)
	}
	topics := []string{"orders", "mail", "stock"}
	for i := 0; i < 400; i++ {
		m := Message{ID: i, Header: &Header{topics[i%3]}}
		if i == 377 {
			m.Header = nil
		}
		fmt.Printf("level=info msg=dispatch id=%d hops=%d\n", i, i%4)
		if i%50 == 49 {
			time.Sleep(30 * time.Millisecond)
			fmt.Printf("level=warn msg=\"queue is full\" topic=stock dropped=%d\n", i/3)
		}
		b.dispatch(m, i%4+12)
	}
}
