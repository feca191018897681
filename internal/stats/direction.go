package stats

// LessIsBetter says whether a smaller value of the metric is the better one.
func (m Metric) LessIsBetter() bool { return m.sign() < 0 }
