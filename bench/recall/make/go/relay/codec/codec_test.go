package codec

import (
	"fmt"
	"strings"
	"testing"
)

var kinds = []string{"hello", "publish", "subscribe", "ack", "ping", "goodbye"}

func TestRoundTrip(t *testing.T) {
	for k, kind := range kinds {
		for _, topic := range []int{0, 1, 20, 200, 255, 256} {
			for _, size := range []int{0, 1, 100, 4096, 65535, 65536} {
				k, topic, size := k, topic, size
				t.Run(fmt.Sprintf("%s/topic_%d/payload_%d", kind, topic, size), func(t *testing.T) {
					if topic > 255 && size > 0 {
						t.Skip("long topics only without payload")
					}
					in := Message{byte(k), strings.Repeat("t", topic), make([]byte, size)}
					out, err := Decode(Encode(in))
					if err != nil {
						t.Fatal(err)
					}
					if len(out.Topic) != topic || len(out.Payload) != size {
						t.Errorf("topic %d and payload %d came back as %d and %d", topic, size, len(out.Topic), len(out.Payload))
					}
				})
			}
		}
	}
}

func TestShortBuffers(t *testing.T) {
	whole := Encode(Message{1, "fleet", []byte("abc")})
	for n := 0; n < 2; n++ {
		if _, err := Decode(whole[:n]); err != ErrShort {
			t.Errorf("%d bytes: got error %v, want %v", n, err, ErrShort)
		}
	}
}
