package page

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

func TestEveryColourOfTextCanBeRead(t *testing.T) {
	sheet, err := os.ReadFile("page.css")
	if err != nil {
		t.Fatal(err)
	}
	themes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllSubmatch(sheet, -1)
	if len(themes) < 2 {
		t.Fatalf("%d themes", len(themes))
	}
	for i, theme := range []string{"light", "dark"} {
		colours := map[string]string{}
		for _, c := range regexp.MustCompile(`--([\w-]+): (#\w{6})`).FindAllSubmatch(themes[i][1], -1) {
			colours[string(c[1])] = string(c[2])
		}
		for _, text := range []string{"ink", "soft", "faint", "faster", "slower", "same", "unknown", "care", "void", "link"} {
			for _, ground := range []string{"paper", "wash"} {
				if c := contrast(t, colours[text], colours[ground]); c < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", theme, text, ground, c)
				}
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
