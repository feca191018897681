package record

// EarlierRun is a run that an objective of a later one names. Data is nil if it could not be read, and Error says why.
type EarlierRun struct {
	Data  *RunData
	Error string
}
