package demo

import (
	"errors"
	"fmt"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"
)

func TestStoreForgetsTheOldestChange(t *testing.T) {
	t.Parallel()
	s := newStore(2)
	mustCreate(t, s, "a", "b")
	if _, err := s.Update(t.Context(), &taskstore.UpdateRequest{Task: &a2a.Task{ID: "a"}, PrevVersion: 1}); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "c")
	if _, err := s.Get(t.Context(), "b"); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("Get(b) = %v, want it forgotten", err)
	}
	if got, err := s.Get(t.Context(), "a"); err != nil || got.Version != 2 {
		t.Errorf("Get(a) = %v, %v; want version 2", got, err)
	}
}

func TestStoreGuardsVersions(t *testing.T) {
	t.Parallel()
	s := newStore(2)
	mustCreate(t, s, "a")
	if _, err := s.Create(t.Context(), &a2a.Task{ID: "a"}); !errors.Is(err, taskstore.ErrTaskAlreadyExists) {
		t.Errorf("second Create = %v", err)
	}
	if _, err := s.Update(t.Context(), &taskstore.UpdateRequest{Task: &a2a.Task{ID: "a"}, PrevVersion: 7}); !errors.Is(err, taskstore.ErrConcurrentModification) {
		t.Errorf("Update of another version = %v", err)
	}
	if _, err := s.Update(t.Context(), &taskstore.UpdateRequest{Task: &a2a.Task{ID: "z"}}); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("Update of nothing = %v", err)
	}
}

func TestStoreBoundsHistoryAndHandsOutCopies(t *testing.T) {
	t.Parallel()
	s := newStore(2)
	long := &a2a.Task{ID: "a"}
	for i := range maxHistory + 5 {
		long.History = append(long.History, &a2a.Message{ID: fmt.Sprint(i)})
	}
	if _, err := s.Create(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), "a")
	if err != nil || len(got.Task.History) != maxHistory || got.Task.History[0].ID != "5" {
		t.Fatalf("history of %d, %v; want the last %d", len(got.Task.History), err, maxHistory)
	}
	got.Task.History[0] = nil
	if again, _ := s.Get(t.Context(), "a"); again.Task.History[0] == nil {
		t.Error("a change to the copy reached the store")
	}
}

func TestStoreLists(t *testing.T) {
	t.Parallel()
	s := newStore(10)
	mustCreate(t, s, "a", "b", "c", "d", "e")
	var pages [][]string
	for token, more := "", true; more; more = token != "" {
		page, err := s.List(t.Context(), &a2a.ListTasksRequest{PageSize: 2, PageToken: token})
		if err != nil || page.TotalSize != 5 {
			t.Fatalf("List(%q) = %+v, %v", token, page, err)
		}
		var ids []string
		for _, task := range page.Tasks {
			ids = append(ids, string(task.ID))
		}
		pages, token = append(pages, ids), page.NextPageToken
	}
	if diff := cmp.Diff([][]string{{"e", "d"}, {"c", "b"}, {"a"}}, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for _, bad := range []a2a.ListTasksRequest{{PageSize: 101}, {PageSize: -1}, {PageToken: "x"}} {
		if _, err := s.List(t.Context(), &bad); !errors.Is(err, a2a.ErrInvalidParams) {
			t.Errorf("List(%+v) = %v, want invalid params", bad, err)
		}
	}
}

func mustCreate(t *testing.T, s *store, ids ...a2a.TaskID) {
	t.Helper()
	for _, id := range ids {
		if _, err := s.Create(t.Context(), &a2a.Task{ID: id, ContextID: "x"}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCancelOfAForgottenTask has nothing behind the canceler, which so fails if it asks
// the SDK.
func TestCancelOfAForgottenTask(t *testing.T) {
	t.Parallel()
	_, err := patientCanceler{tasks: newStore(1)}.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: "gone"})
	if !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("the error is %v, want that there is no such task", err)
	}
}
