package figures

import "strconv"

// Aim is a limit, and what of a figure is held against it. The zero Aim is none.
type Aim struct {
	sign  string
	limit float64
	// upTo is the other limit of a value that is to lie between two.
	upTo float64
	judged
	// tolerance is the share of the limit by which a bound may lie beyond it.
	tolerance float64
}

type judged int

const (
	// theValue is held against the limit, and its interval is for the reader.
	theValue judged = iota
	// theBound is that end of the interval which is worse.
	theBound
	// theReach is that end of the interval which is better.
	theReach
)

const (
	most    = "<="
	least   = ">="
	between = ".."
)

// AtMost is an upper limit of the value.
func AtMost(limit float64) Aim { return Aim{sign: most, limit: limit} }

// AtLeast is a lower limit of the value.
func AtLeast(limit float64) Aim { return Aim{sign: least, limit: limit} }

// Within is a lower and an upper limit of the value.
func Within(low, high float64) Aim { return Aim{sign: between, limit: low, upTo: high} }

// Bound holds the worse end of the interval against the limit, which it may miss by a share: with a share of 0 the whole interval
// must keep the limit, with another a figure at parity can be met, which no interval around 1 could without.
func (a Aim) Bound(tolerance float64) Aim {
	a.judged, a.tolerance = theBound, tolerance
	return a
}

// Reach holds the better end of the interval against the limit: what is not known to miss it has met it.
func (a Aim) Reach() Aim {
	a.judged = theReach
	return a
}

// met judges a value, or an end of its interval where it has one.
func (a Aim) met(value float64, i Interval) bool {
	if a.sign == between {
		return value >= a.limit && value <= a.upTo
	}
	worse, better := i.High, i.Low
	if a.sign == least {
		worse, better = better, worse
	}
	if i != (Interval{}) {
		switch a.judged {
		case theBound:
			value = worse
		case theReach:
			value = better
		case theValue:
		}
	}
	if a.sign == least {
		return value >= a.limit*(1-a.tolerance)
	}
	return value <= a.limit*(1+a.tolerance)
}

// String is the aim as the table of figures has it.
func (a Aim) String() string {
	if a == (Aim{}) {
		return "-"
	}
	if a.sign == between {
		return strconv.FormatFloat(a.limit, 'f', -1, 64) + between + strconv.FormatFloat(a.upTo, 'f', -1, 64)
	}
	text := a.sign + strconv.FormatFloat(a.limit, 'f', -1, 64)
	switch {
	case a.judged == theReach:
		text += " (interval reaches)"
	case a.tolerance > 0:
		text += " (bound within " + strconv.FormatFloat(100*a.tolerance, 'f', -1, 64) + " %)"
	case a.judged == theBound:
		text += " (bound)"
	}
	return text
}
