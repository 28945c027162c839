package kv

import (
	"fmt"
	"testing"
)

func filled(n, size int) *Store {
	s := New()
	for i := 0; i < n; i++ {
		s.Put(fmt.Sprintf("key%06d", i), make([]byte, size))
	}
	return s
}

var sizes = []struct {
	name string
	n    int
}{{"64B", 64}, {"1KiB", 1024}, {"64KiB", 65536}}

func BenchmarkGet(b *testing.B) {
	for _, size := range sizes {
		b.Run("size="+size.name, func(b *testing.B) {
			s := filled(1000, size.n)
			b.ReportAllocs()
			b.SetBytes(int64(size.n))
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				s.Get("key000500")
			}
		})
	}
}

func BenchmarkPut(b *testing.B) {
	for _, size := range sizes {
		b.Run("size="+size.name, func(b *testing.B) {
			s, v := New(), make([]byte, size.n)
			b.ReportAllocs()
			b.SetBytes(int64(size.n))
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				s.Put("key000500", v)
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	s := filled(1000, 64)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		s.Keys("key0005")
	}
}
