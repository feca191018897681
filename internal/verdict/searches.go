package verdict

// Searches are the ratios of searches, with the faults of both sides.
type Searches struct {
	results []*Result
	faults  [][2]int
}

// Add takes in a ratio, to be judged with the others.
func (f *Searches) Add(r *Result, contenderFailures, baselineFailures int) {
	f.results, f.faults = append(f.results, r), append(f.faults, [2]int{contenderFailures, baselineFailures})
}

// judge decides the ratios, which have been adjusted in the family of the loads.
func (f Searches) judge(alpha float64) {
	for k, r := range f.results {
		r.judge(f.faults[k][0], f.faults[k][1], alpha)
	}
}
