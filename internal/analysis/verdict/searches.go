package verdict

// Searches are the ratios of searches, with the failures of both sides.
type Searches struct {
	results  []*Result
	failures [][2]int
}

// Add takes in a ratio, to be judged with the others.
func (f *Searches) Add(r *Result, contenderFailures, baselineFailures int) {
	f.results, f.failures = append(f.results, r), append(f.failures, [2]int{contenderFailures, baselineFailures})
}

// judge decides the ratios, which have been adjusted in the family of the loads.
func (f Searches) judge(alpha float64) {
	for k, r := range f.results {
		r.judge(f.failures[k][0], f.failures[k][1], alpha)
	}
}
