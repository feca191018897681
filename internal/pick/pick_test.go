package pick_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/pick"
)

func TestFirstIsTheFirstElementThatFits(t *testing.T) {
	list := []int{1, 2, 3, 4}
	even := pick.First(list, func(n *int) bool { return *n%2 == 0 })
	if even != &list[1] {
		t.Errorf("First() = %v, want the list's own second element", even)
	}
	if none := pick.First(list, func(n *int) bool { return *n > 4 }); none != nil {
		t.Errorf("First() = %v where none fits", *none)
	}
}

func TestDistinctReturnsEachValueOnce(t *testing.T) {
	if diff := cmp.Diff([]string{"a", "b"}, pick.Distinct([]string{"b", "a", "b"})); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{1, 2}, pick.Distinct([]float64{2, 1, 2, 1})); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	if got := pick.Distinct([]int(nil)); len(got) != 0 {
		t.Errorf("Distinct() = %v of nothing", got)
	}
}
