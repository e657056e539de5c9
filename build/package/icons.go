package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"

	// The standard library does not scale pictures, and hard pixels look broken in a panel.
	"golang.org/x/image/draw"
)

// themeSizes are the sizes in which desktops look for an application's icon.
var themeSizes = []int{16, 24, 32, 48, 64, 128, 256, 512}

// writeIcons writes hicolor/<size>/apps/aalis.png below dir.
func writeIcons(source, dir string) error {
	picture, err := readPicture(source)
	if err != nil {
		return err
	}
	for _, size := range themeSizes {
		data, err := encodePNG(picture, size)
		if err != nil {
			return err
		}
		folder := filepath.Join(dir, "hicolor", fmt.Sprintf("%dx%d", size, size), "apps")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("making a folder for icons: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, "aalis.png"), data, 0o644); err != nil {
			return fmt.Errorf("writing an icon: %w", err)
		}
	}
	return nil
}

func writeIconFile(source, file string, encode func(image.Image) ([]byte, error)) error {
	picture, err := readPicture(source)
	if err != nil {
		return err
	}
	data, err := encode(picture)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("writing an icon: %w", err)
	}
	return nil
}

func readPicture(file string) (image.Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading the picture of the icon: %w", err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s is not a PNG: %w", file, err)
	}
	if b := picture.Bounds(); b.Dx() != b.Dy() || b.Dx() < 1024 {
		return nil, fmt.Errorf("%s is %d×%d; an icon is made of a square of 1024 or more", file, b.Dx(), b.Dy())
	}
	return picture, nil
}

func encodePNG(picture image.Image, size int) ([]byte, error) {
	scaled := image.NewNRGBA(image.Rect(0, 0, size, size))
	draw.CatmullRom.Scale(scaled, scaled.Bounds(), picture, picture.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, scaled); err != nil {
		return nil, fmt.Errorf("encoding an icon of %d pixels: %w", size, err)
	}
	return out.Bytes(), nil
}

// encodeICO gives an .ico of PNGs, which Windows has read since Vista: a header, one entry of 16 bytes
// for each picture, and the pictures.
func encodeICO(picture image.Image) ([]byte, error) {
	sizes := []int{16, 24, 32, 48, 64, 256}
	header := binary.LittleEndian.AppendUint16(nil, 0)
	header = binary.LittleEndian.AppendUint16(header, 1) // an icon, not a pointer
	header = binary.LittleEndian.AppendUint16(header, uint16(len(sizes)))
	var pictures []byte
	for _, size := range sizes {
		data, err := encodePNG(picture, size)
		if err != nil {
			return nil, err
		}
		header = append(header, byte(size), byte(size), 0, 0) // 256 is written as 0
		header = binary.LittleEndian.AppendUint16(header, 1)  // planes
		header = binary.LittleEndian.AppendUint16(header, 32) // bits of a pixel
		header = binary.LittleEndian.AppendUint32(header, uint32(len(data)))
		header = binary.LittleEndian.AppendUint32(header, uint32(6+16*len(sizes)+len(pictures)))
		pictures = append(pictures, data...)
	}
	return append(header, pictures...), nil
}

// encodeICNS gives an .icns: chunks of a type, their length with these eight bytes, and a PNG.
func encodeICNS(picture image.Image) ([]byte, error) {
	var chunks []byte
	for _, chunk := range []struct {
		kind string
		size int
	}{
		{"icp4", 16},
		{"icp5", 32},
		{"ic07", 128},
		{"ic08", 256},
		{"ic09", 512},
		{"ic10", 1024},
		{"ic11", 32},
		{"ic12", 64},
		{"ic13", 256},
		{"ic14", 512}, // the same for screens of double density
	} {
		data, err := encodePNG(picture, chunk.size)
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, chunk.kind...)
		chunks = binary.BigEndian.AppendUint32(chunks, uint32(8+len(data)))
		chunks = append(chunks, data...)
	}
	file := binary.BigEndian.AppendUint32([]byte("icns"), uint32(8+len(chunks)))
	return append(file, chunks...), nil
}
