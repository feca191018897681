package suite

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"loadstone.dev/loadstone/api/v1alpha1"
)

type timetable struct {
	due  time.Time
	next time.Time
}

func timetableAt(schedules []v1alpha1.Schedule, from, now time.Time) (timetable, *Problem) {
	var t timetable
	for i, s := range schedules {
		times, problem := parse(i, s)
		if problem != nil {
			return timetable{}, problem
		}
		next := times.Next(now)
		if next.IsZero() {
			return timetable{}, invalid("triggers.schedules[%d].cron %q never matches", i, s.Cron)
		}
		if t.next.IsZero() || next.Before(t.next) {
			t.next = next
		}
		since := from
		if late := now.Add(-time.Duration(s.StartingDeadlineSeconds) * time.Second); s.StartingDeadlineSeconds > 0 && late.After(since) {
			since = late
		}
		if come := times.Next(since); !come.After(now) && come.After(t.due) {
			t.due = come
		}
	}
	return t, nil
}

func parse(i int, s v1alpha1.Schedule) (cron.Schedule, *Problem) {
	zone := s.TimeZone
	if zone == "" {
		zone = "UTC"
	}
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
		return nil, invalid("triggers.schedules[%d].timeZone %q is unknown: use a name such as Europe/Berlin", i, s.TimeZone)
	}
	if strings.Contains(s.Cron, "TZ=") || strings.HasPrefix(strings.TrimSpace(s.Cron), "@every") {
		return nil, invalid("triggers.schedules[%d].cron %q: set the time zone in timeZone, and times instead of @every", i, s.Cron)
	}
	times, err := cron.ParseStandard("CRON_TZ=" + zone + " " + s.Cron)
	if err != nil {
		return nil, invalid("triggers.schedules[%d].cron %q is not a schedule: %v", i, s.Cron, err)
	}
	return times, nil
}
