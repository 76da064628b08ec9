// Package limiter lets through so many requests per window.
package limiter

type Bucket struct {
	Size, Refill int
	tokens       int
	last         int64
}

func New(size, refill int) *Bucket { return &Bucket{Size: size, Refill: refill, tokens: size} }

func (b *Bucket) Allow(now int64) bool {
	b.tokens += int(now-b.last) * b.Refill
	b.last = now
	if b.tokens <= 0 {
		return false
	}
	b.tokens--
	return true
}

func (b *Bucket) Tokens() int { return b.tokens }
