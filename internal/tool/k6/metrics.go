package k6

import "strconv"

const (
	metricRequests       = "http_reqs{scenario:load}"
	metricExpected       = "http_reqs{scenario:load,expected_response:true}"
	metricUnanswered     = "http_reqs{scenario:load,status:0}"
	metricHTTP2          = "http_reqs{scenario:load,proto:HTTP/2.0}"
	metricTimeout        = "http_reqs{scenario:load,error_code:1050}"
	metricObserved       = "http_req_duration{scenario:load,expected_response:true}"
	metricReceived       = "data_received{scenario:load}"
	metricIterations     = "iterations"
	metricDropped        = "dropped_iterations"
	metricChecks         = "checks"
	metricBegun          = "loadstone_begun"
	metricExtra          = "loadstone_extra"
	metricThrew          = "loadstone_threw"
	metricWrongBody      = "loadstone_wrong_body"
	metricWithConnection = "loadstone_with_connection"
	metricFromIntended   = "loadstone_from_intended"
	metricClockError     = "loadstone_clock_error"
	metricLeastLate      = "loadstone_least_late"
	gaugePrefix          = "loadstone_"
)

// says are the wrapper's gauges on what k6 ran: times in milliseconds, rates in requests per second.
var says = []string{"setup", "teardown", "vus", "threads", "duration", "grace", "rate", "rate_end", "iterations"}

// connectCodes are k6's error codes of failed name lookups and refused connections.
var connectCodes = []int{1100, 1101, 1110, 1111, 1210, 1211, 1212, 1213}

func metricCode(code int) string {
	return "http_reqs{scenario:load,error_code:" + strconv.Itoa(code) + "}"
}

func metricStatus(status int32) string {
	return "http_reqs{scenario:load,status:" + strconv.Itoa(int(status)) + "}"
}

func metricRequest(place int) string {
	return "http_reqs{scenario:load,request:" + strconv.Itoa(place) + "}"
}

func metricRequestStatus(place int, status int32) string {
	return "http_reqs{scenario:load,request:" + strconv.Itoa(place) + ",status:" + strconv.Itoa(int(status)) + "}"
}

// metricsRight count right answers to requests with these expected statuses.
func metricsRight(statuses []int32) []string {
	if len(statuses) == 1 {
		return []string{metricStatus(statuses[0])}
	}
	var names []string
	for i, status := range statuses {
		names = append(names, metricRequestStatus(i, status))
	}
	return names
}

func metricsMade(statuses []int32) []string {
	if len(statuses) == 1 {
		return nil
	}
	var names []string
	for i := range statuses {
		names = append(names, metricRequest(i))
	}
	return names
}

// submetrics need an empty threshold each, or k6 does not count them.
func submetrics(statuses []int32, http2 bool) []string {
	names := []string{metricRequests, metricExpected, metricUnanswered, metricTimeout, metricObserved, metricReceived}
	names = append(append(names, metricsRight(statuses)...), metricsMade(statuses)...)
	for _, code := range connectCodes {
		names = append(names, metricCode(code))
	}
	if http2 {
		names = append(names, metricHTTP2)
	}
	return names
}

func metricNames(statuses []int32, http2 bool) []string {
	names := submetrics(statuses, http2)
	names = append(names, metricIterations, metricDropped, metricChecks, metricBegun, metricExtra, metricThrew, metricWrongBody, metricWithConnection,
		metricFromIntended, metricClockError, metricLeastLate)
	return append(names, gauges()...)
}

func gauges() []string {
	names := make([]string, 0, len(says))
	for _, name := range says {
		names = append(names, gaugePrefix+name)
	}
	return names
}
