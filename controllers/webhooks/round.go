package webhooks

import (
	"context"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// round answers who shows the token of a suite: with what the request of this body has come to, or, if the suite does not know of it, by writing it
// down. Nobody else's body is read. A conflict is no matter: they ask again.
func (s *Server) round(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey) *answer {
	authorization := q.Header.Get("Authorization")
	of, a, err := s.shown(ctx, name, "does not show its token", func(k keys) bool { return webhook.ShowsToken(authorization, k.token) })
	if err != nil {
		return unrecorded(err)
	}
	if a != nil {
		return a
	}
	if a := s.asks.refuse(name, s.Now()); a != nil {
		return a
	}
	body, a := read(w, q)
	if a != nil {
		return a
	}
	values, err := webhook.Pick(of.Spec.Triggers.Webhook, body)
	if err != nil {
		return &answer{status: http.StatusUnprocessableEntity, says: err.Error()}
	}
	id := webhook.AskID(of.Spec, values, body)
	if come, known := webhook.RoundOf(of, id); known {
		return &answer{status: http.StatusOK, round: &come}
	}
	if why := webhook.Holds(of, values); why != "" {
		return &answer{status: http.StatusOK, round: &webhook.Round{Message: why}}
	}
	return s.begin(ctx, of, id, values)
}

// begin writes a request down that the suite does not know of.
func (s *Server) begin(ctx context.Context, of *v1alpha1.BenchmarkSuite, id string, values []v1alpha1.ParameterValue) *answer {
	now := s.Now()
	if a := checked(of, values, now); a != nil {
		return a
	}
	if a := s.requests.refuse(client.ObjectKeyFromObject(of), now); a != nil {
		return a
	}
	newest := webhook.Read(of.Annotations[v1alpha1.AnnotationWebhook]).Then(id, values, now, now)
	if err := s.record(ctx, of, newest); err != nil {
		return unrecorded(err)
	}
	return &answer{status: http.StatusAccepted, round: &webhook.Round{Message: taken(of)}}
}
