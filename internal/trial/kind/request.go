package kind

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// ReadRequest is the request of an object's spec.
func ReadRequest(r v1alpha1.Request) record.Request {
	out := record.Request{
		Method: r.Method, Path: r.Path, Body: r.Body,
		Expect: record.Expect{Status: r.Expect.Status, Body: r.Expect.Body, AnyBody: r.Expect.Bodies == v1alpha1.BodiesAny},
	}
	if from := r.BodyFrom; from != (v1alpha1.BodySource{}) {
		out.From = &record.BodySource{ConfigMap: from.ConfigMap, Key: from.Key}
	}
	if r.Method == record.MethodGet {
		out.Method = ""
	}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, record.Header{Name: h.Name, Value: h.Value})
	}
	return out
}
