// Package lease renews leases.
package lease

func Left(start, ttl, now int) int { return start + ttl - now }
