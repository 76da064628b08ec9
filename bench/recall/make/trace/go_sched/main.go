// A job scheduler whose workers wait for each other: the runtime reports a deadlock.
package main

import (
	"fmt"
	"sync"
)

type Job struct {
	Name string
	Deps []string
}

type Scheduler struct {
	cond    *sync.Cond
	done    map[string]bool
	results chan string
	limit   chan struct{}
	state   sync.RWMutex
}

func (s *Scheduler) ready(j Job) bool {
	for _, d := range j.Deps {
		if !s.done[d] {
			return false
		}
	}
	return true
}

func (s *Scheduler) waitFor(j Job) {
	s.cond.L.Lock()
	defer s.cond.L.Unlock()
	for !s.ready(j) {
		s.cond.Wait()
	}
}

func (s *Scheduler) acquire() { s.limit <- struct{}{} }
func (s *Scheduler) release() { <-s.limit }

func (s *Scheduler) run(j Job, wg *sync.WaitGroup) {
	defer wg.Done()
	s.waitFor(j)
	s.acquire()
	defer s.release()
	s.publish(j)
	s.cond.L.Lock()
	s.done[j.Name] = true
	s.cond.L.Unlock()
	s.cond.Broadcast()
}

func (s *Scheduler) publish(j Job) { s.results <- j.Name }

func (s *Scheduler) snapshot(n int) {
	s.state.RLock()
	defer s.state.RUnlock()
	fmt.Println("snapshot", n)
}

func main() {
	s := &Scheduler{cond: sync.NewCond(&sync.Mutex{}), done: map[string]bool{}, results: make(chan string, 300), limit: make(chan struct{}, 3)}
	wg := &sync.WaitGroup{}
	var jobs []Job
	for n := 0; n < 240; n++ {
		j := Job{Name: fmt.Sprintf("extract-%03d", n)}
		if n >= 40 {
			j.Name = fmt.Sprintf("transform-%03d", n)
			j.Deps = []string{fmt.Sprintf("extract-%03d", n%40)}
		}
		if n >= 150 {
			j.Name = fmt.Sprintf("load-%03d", n)
			j.Deps = []string{fmt.Sprintf("transform-%03d", n-90)}
			if n%3 == 0 {
				j.Deps = append(j.Deps, fmt.Sprintf("load-%03d", n+3))
			}
		}
		jobs = append(jobs, j)
	}
	for _, j := range jobs {
		fmt.Printf("queued %s deps=%v\n", j.Name, j.Deps)
		wg.Add(1)
		go s.run(j, wg)
	}
	s.state.Lock()
	for i := 0; i < 8; i++ {
		go s.snapshot(i)
	}
	wg.Wait()
}
