package tray

import (
	"image"
	"image/color"
	"math"
)

// appearance is what the icon says at a glance.
type appearance struct {
	working, failed bool
	waiting         int
}

func appearanceOf(s State) appearance {
	return appearance{working: s.Working > 0, failed: s.Failed, waiting: min(len(s.Requests), 10)}
}

// The sizes that panels ask for, in pixels; they scale what lies between.
var sizes = []int{16, 22, 24, 32, 48, 64}

// The tile is filled, so that it shows on dark and on light panels alike; grey while nothing happens.
var (
	grey   = color.NRGBA{0x66, 0x70, 0x80, 0xff}
	indigo = color.NRGBA{0x46, 0x56, 0xc8, 0xff}
	white  = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	amber  = color.NRGBA{0xff, 0xc8, 0x4a, 0xff}
	red    = color.NRGBA{0xd6, 0x30, 0x31, 0xff}
	black  = color.NRGBA{0x1b, 0x1b, 0x1f, 0xff}
)

// draw gives the icon in a size: the program's mark on a tile; a dot in the mark while she works; a
// badge with the number of approvals that wait, or else with an exclamation mark when something failed.
func draw(a appearance, size int) *image.NRGBA {
	p := pen{image.NewNRGBA(image.Rect(0, 0, size, size)), float64(size)}
	tile := grey
	if a.working || a.waiting > 0 || a.failed {
		tile = indigo
	}
	p.fill(tile, func(x, y float64) float64 { return box(x-.5, y-.5, .48, .22) })
	p.fill(white, func(x, y float64) float64 {
		return min(stroke(x, y, .5, .2, .24, .78), stroke(x, y, .5, .2, .76, .78)) - .065
	})
	if a.working {
		p.fill(amber, func(x, y float64) float64 { return math.Hypot(x-.5, y-.7) - .13 })
	}
	switch {
	case a.waiting > 0:
		p.badge(amber, black, digits[a.waiting])
	case a.failed:
		p.badge(red, white, exclamation)
	}
	return p.on
}

// pen fills shapes given by their distance from a point, in units of the picture's edge.
type pen struct {
	on   *image.NRGBA
	edge float64
}

func (p pen) each(f func(i int, x, y float64)) {
	w := p.on.Rect.Dx()
	for row := range w {
		for col := range w {
			f(p.on.PixOffset(col, row), (float64(col)+.5)/p.edge, (float64(row)+.5)/p.edge)
		}
	}
}

func (p pen) fill(c color.NRGBA, distance func(x, y float64) float64) {
	p.each(func(i int, x, y float64) { p.blend(i, c, p.cover(distance(x, y))) })
}

// cover is how much of a pixel lies inside.
func (p pen) cover(distance float64) float64 { return min(max(.5-distance*p.edge, 0), 1) }

func (p pen) blend(i int, c color.NRGBA, cover float64) {
	px := p.on.Pix[i : i+4 : i+4]
	under := float64(px[3]) / 255 * (1 - cover)
	alpha := cover + under
	if alpha == 0 {
		return
	}
	for n, v := range []uint8{c.R, c.G, c.B} {
		px[n] = uint8(math.Round((float64(v)*cover + float64(px[n])*under) / alpha))
	}
	px[3] = uint8(math.Round(alpha * 255))
}

// badge covers the lower right corner, with a gap around it that lets the panel through.
func (p pen) badge(ground, ink color.NRGBA, glyph [5]uint8) {
	const at, radius, gap = .68, .32, .07
	round := func(x, y float64) float64 { return math.Hypot(x-at, y-at) - radius }
	p.each(func(i int, x, y float64) {
		px := &p.on.Pix[i+3]
		*px = uint8(float64(*px) * (1 - p.cover(round(x, y)-gap)))
	})
	p.fill(ground, round)
	// Whole pixels: a glyph of three by five has none to lose.
	dot := max(int(2*radius*p.edge*.95/math.Hypot(3, 5)), 1)
	left, top := int(math.Round(at*p.edge-1.5*float64(dot))), int(math.Round(at*p.edge-2.5*float64(dot)))
	for row, bits := range glyph {
		for col := range 3 {
			if bits&(4>>col) == 0 {
				continue
			}
			for y := range dot {
				for x := range dot {
					p.blend(p.on.PixOffset(left+col*dot+x, top+row*dot+y), ink, 1)
				}
			}
		}
	}
}

// box is the distance from a square of half the edge given, with round corners.
func box(x, y, half, corner float64) float64 {
	x, y = math.Abs(x)-half+corner, math.Abs(y)-half+corner
	return math.Hypot(max(x, 0), max(y, 0)) + min(max(x, y), 0) - corner
}

// stroke is the distance from the line between two points.
func stroke(x, y, x1, y1, x2, y2 float64) float64 {
	dx, dy := x2-x1, y2-y1
	along := min(max(((x-x1)*dx+(y-y1)*dy)/(dx*dx+dy*dy), 0), 1)
	return math.Hypot(x-x1-along*dx, y-y1-along*dy)
}

// digits are three by five dots each, a row a byte; ten and more is a plus.
var digits = [11][5]uint8{
	{7, 5, 5, 5, 7},
	{2, 6, 2, 2, 7},
	{7, 1, 7, 4, 7},
	{7, 1, 3, 1, 7},
	{5, 5, 7, 1, 1},
	{7, 4, 7, 1, 7},
	{7, 4, 7, 5, 7},
	{7, 1, 1, 2, 2},
	{7, 5, 7, 5, 7},
	{7, 5, 7, 1, 7},
	{0, 2, 7, 2, 0},
}

var exclamation = [5]uint8{2, 2, 2, 0, 2}
