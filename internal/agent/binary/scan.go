package binary

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
)

// chunk is how much of a file is in memory while it is searched.
const chunk = 256 << 10

// Texts that a runtime must hold to work, and that stay when a file is stripped: the variables that it reads, and the names of the files that it
// writes.
const (
	textGcov = ".gcda\x00"
	textASan = "ASAN_OPTIONS"
	textTSan = "TSAN_OPTIONS"
	textMSan = "MSAN_OPTIONS"
	textUBSn = "UBSAN_OPTIONS"
	textLSan = "LSAN_OPTIONS"
)

// allocatorTexts are in messages of allocators. They show that one is there, and not that it serves malloc.
var allocatorTexts = []string{"mimalloc_", "<jemalloc>", "tcmalloc"}

// sanitizerTexts are those of all sanitizers.
var sanitizerTexts = []string{textASan, textTSan, textMSan, textUBSn, textLSan}

// scan takes the digest of a file and looks for the telling texts.
func scan(file io.Reader) (digest string, found map[string]bool, err error) {
	texts := slices.Concat([]string{textGcov}, sanitizerTexts, allocatorTexts)
	longest := 0
	for _, t := range texts {
		longest = max(longest, len(t))
	}
	sum, found, buffer, held := sha256.New(), map[string]bool{}, make([]byte, chunk+longest), 0
	for {
		n, err := io.ReadFull(file, buffer[held:held+chunk])
		sum.Write(buffer[held : held+n])
		window := buffer[:held+n]
		for _, t := range texts {
			if !found[t] && bytes.Contains(window, []byte(t)) {
				found[t] = true
			}
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return hex.EncodeToString(sum.Sum(nil)), found, nil
		case err != nil:
			return "", nil, err
		}
		// A text may lie across two chunks.
		held = copy(buffer, window[len(window)-longest:])
	}
}
