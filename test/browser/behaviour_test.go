package browser

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// formBehaviour has a test for each fault that people reported of other products'
// forms, where the form alone can show it. Those that need a task are in
// taskBehaviour; some are in both.
func formBehaviour() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"enum-long-labels-chat-card":   longLabelsWrap,
		"number-wheel":                 wheelChangesNothing,
		"bidi-bleed":                   directionStaysInside,
		"zero-width-option-twins":      twinsAreToldApart,
		"hidden-chars-warning":         deceptiveTextIsFlagged,
		"reload-wipes":                 reloadRestores,
		"double-click-submit":          doubleClickSendsOnce,
		"benign-race-as-error":         refusalsDiffer,
		"dead-form-accepts":            goneQuestionClosesForm,
		"human-time-counts-as-timeout": nothingTimesOut,
		"ime-enter":                    inputMethodEnterSendsNothing,
		"invalid-before-submit":        pristineIsNotInvalid,
		"rtl-labels":                   rightToLeft,
		"hidden-options-accordion":     shortListsAreOpen,
	}
}

// taskBehaviour has a test for each reported fault that needs a task, on the
// product's own page of it, see formBehaviour.
func taskBehaviour() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"refresh-eats-typing":          updatesLeaveTypingAlone,
		"form-random-reset":            updatesLeaveFormAlone,
		"textarea-reset-on-render":     otherPanelsLeaveFormAlone,
		"reload-wipes":                 taskReloadRestores,
		"answered-shown-empty":         answeredFormShowsAnswer,
		"answer-missing-in-transcript": timelineTellsAnswer,
		"double-click-submit":          doubleClickAnswersOnce,
		"double-submit-ms-apart":       twinSubmitsAreOne,
		"benign-race-as-error":         racesAreTold,
		"dead-form-accepts":            endedTaskClosesForm,
		"human-time-counts-as-timeout": hoursPassInTask,
		"placeholders-after-reload":    reloadShowsTheSameForm,
	}
}

func TestFormBehaviour(t *testing.T) {
	t.Parallel()
	runAll(t, formBehaviour())
}

func TestTaskBehaviour(t *testing.T) {
	t.Parallel()
	runAll(t, taskBehaviour())
}

func runAll(t *testing.T, cases map[string]func(*testing.T)) {
	t.Helper()
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// TestBehaviourIsTested fails when a reported fault has no test, or a test is of
// none of them.
func TestBehaviourIsTested(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, cases := range []map[string]func(*testing.T){formBehaviour(), taskBehaviour()} {
		for name := range cases {
			tested[name] = true
		}
	}
	reported := map[string]bool{}
	row := regexp.MustCompile(`(?m)^\| ([a-z][a-z0-9-]*) \|`)
	for _, match := range row.FindAllStringSubmatch(readTestdata(t, "behaviour.md"), -1) {
		if match[1] != "case" {
			reported[match[1]] = true
		}
	}
	if len(reported) < 20 {
		t.Fatalf("behaviour.md has %d rows that could be read: %v", len(reported), reported)
	}
	if diff := cmp.Diff(reported, tested); diff != "" {
		t.Errorf("the faults that are tested mismatch (-reported +tested):\n%s", diff)
	}
}
