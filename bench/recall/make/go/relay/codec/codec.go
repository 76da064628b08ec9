// Package codec packs messages with a length in front.
package codec

import (
	"encoding/binary"
	"errors"
)

var ErrShort = errors.New("codec: short buffer")

type Message struct {
	Kind    byte
	Topic   string
	Payload []byte
}

func Encode(m Message) []byte {
	out := []byte{m.Kind, byte(len(m.Topic))}
	out = append(out, m.Topic...)
	out = binary.BigEndian.AppendUint16(out, uint16(len(m.Payload)))
	return append(out, m.Payload...)
}

func Decode(in []byte) (Message, error) {
	if len(in) < 2 {
		return Message{}, ErrShort
	}
	n := int(in[1])
	topic := string(in[2 : 2+n])
	size := binary.BigEndian.Uint16(in[2+n:])
	return Message{in[0], topic, in[4+n : 4+n+int(size)]}, nil
}
