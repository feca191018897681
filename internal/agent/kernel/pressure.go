package kernel

import "bytes"

// OpenPressure opens the machine's pressure on its CPUs; nil where the kernel has none.
func (p Proc) OpenPressure() *File {
	f, err := Open(p.file("pressure/cpu"))
	if err != nil {
		return nil
	}
	return f
}

// PressureMicros is how long some task waited for a CPU by a file of pressure, in microseconds; nil where the kernel does not account for
// it.
func PressureMicros(file *File) *int64 {
	if file == nil {
		return nil
	}
	text, err := file.Read()
	if err != nil {
		// A kernel that was started without the accounting has the file and refuses to read it.
		return nil
	}
	total, ok := parsePressure(text)
	if !ok {
		return nil
	}
	return &total
}

// parsePressure reads the total of the line "some avg10=0.00 avg60=0.00 avg300=0.00 total=12".
func parsePressure(text []byte) (int64, bool) {
	l, _, _ := bytes.Cut(text, []byte{'\n'})
	l, ok := bytes.CutPrefix(l, []byte("some "))
	_, total, found := bytes.Cut(l, []byte("total="))
	if !ok || !found {
		return 0, false
	}
	return number(total)
}
