package tray

import (
	"bytes"
	"encoding/binary"
)

// ico gives the icon as Windows reads it from a file: every size as a bitmap of blue, green, red and
// alpha, from the lowest row up, with an empty mask.
func ico(a appearance) []byte {
	var head, pictures bytes.Buffer
	put := func(to *bytes.Buffer, values ...any) {
		for _, v := range values {
			_ = binary.Write(to, binary.LittleEndian, v) // a buffer takes everything
		}
	}
	put(&head, uint16(0), uint16(1), uint16(len(sizes)))
	for _, size := range sizes {
		pix := draw(a, size).Pix
		mask := (size + 31) / 32 * 4 * size
		length := 40 + len(pix) + mask
		put(&head, uint8(size), uint8(size), uint16(0), uint16(1), uint16(32), uint32(length), uint32(6+16*len(sizes)+pictures.Len()))
		put(&pictures, uint32(40), int32(size), int32(2*size), uint16(1), uint16(32), [6]uint32{})
		for row := size - 1; row >= 0; row-- {
			for i := row * size * 4; i < (row+1)*size*4; i += 4 {
				pictures.Write([]byte{pix[i+2], pix[i+1], pix[i], pix[i+3]})
			}
		}
		pictures.Write(make([]byte, mask))
	}
	return append(head.Bytes(), pictures.Bytes()...)
}
