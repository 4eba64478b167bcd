// Package storetest is what every database of the console must pass. It drives
// the store through the interfaces that the nouns declare.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/artifact/artifacttest"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// Open opens an empty database, and closes it at the end of the test.
type Open func(t *testing.T, live store.Publisher) *store.DB

// Run runs the whole suite.
func Run(t *testing.T, open Open) {
	for _, tests := range []map[string]func(*bench){recordTests(), workTests(), bytesTests(), peopleTests()} {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				published := &publications{}
				b := &bench{T: t, db: open(t, published), published: published, bucket: artifacttest.Memory(t)}
				b.keeper = b.newKeeper()
				b.lease("w0", "w1", "w2", "w3", "alive", "dead")
				test(b)
				b.replays()
			})
		}
	}
}

// recordTests are of agents, and of tasks as they are seen.
func recordTests() map[string]func(*bench) {
	return map[string]func(*bench){
		"AgentsAndCards":         testAgentsAndCards,
		"DeepCard":               testDeepCard,
		"CardHistory":            testCardHistory,
		"IngestOnce":             testIngestOnce,
		"Sights":                 testSights,
		"AStaleSightIsSeenAgain": testAStaleSightIsSeenAgain,
		"AskedAgain":             testAskedAgain,
		"QuestionUnderAUsersID":  testQuestionUnderAUsersID,
		"MessageIDs":             testMessageIDs,
		"Converge":               testConverge,
		"Timeline":               testTimeline,
		"ArtifactChunks":         testArtifactChunks,
		"ExactJSON":              testExactJSON,
		"MergeTask":              testMergeTask,
		"AnotherTask":            testAnotherTask,
		"ListAndPage":            testListAndPage,
		"Search":                 testSearch,
		"SearchSpan":             testSearchSpan,
		"SearchInData":           testSearchInData,
		"Forgotten":              testForgotten,
		"SignalsAfterCommit":     testSignalsAfterCommit,
		"NothingOfAFailedUpdate": testNothingOfAFailedUpdate,
	}
}

// workTests are of what goes out, of what is observed, and of who does it.
func workTests() map[string]func(*bench) {
	return map[string]func(*bench){
		"ClaimOncePerTask":      testClaimOncePerTask,
		"CommandStates":         testCommandStates,
		"OneAnswerPerQuestion":  testOneAnswerPerQuestion,
		"UnreadableCommand":     testUnreadableCommand,
		"Orphans":               testOrphans,
		"Unclaim":               testUnclaim,
		"AfterRestore":          testAfterRestore,
		"UncertainIsConfirmed":  testUncertainIsConfirmed,
		"UncertainIsSentAgain":  testUncertainIsSentAgain,
		"CancelWaitsForNothing": testCancelWaitsForNothing,
		"Lanes":                 testLanes,
		"Cancels":               testCancels,
		"Standings":             testStandings,
		"Leases":                testLeases,
		"Streams":               testStreams,
		"ObservationsAtOnce":    testObservationsAtOnce,
		"AnswersAtOnce":         testAnswersAtOnce,
		"ClaimsAtOnce":          testClaimsAtOnce,
		"Checks":                testChecks,
		"Sweeps":                testSweeps,
		"PolledForever":         testPolledForever,
		"Flood":                 testFlood,
		"Exchanges":             testExchanges,
		"Threads":               testThreads,
		"Runs":                  testRuns,
		"Interrupts":            testInterrupts,
	}
}

// bytesTests are of the ledger, of files, and of how long they are kept.
func bytesTests() map[string]func(*bench) {
	return map[string]func(*bench){
		"LedgerIsAppendOnly":     testLedgerIsAppendOnly,
		"Retention":              testRetention,
		"RetentionOfReplies":     testRetentionOfReplies,
		"PurgeIsNarrow":          testPurgeIsNarrow,
		"Replay":                 testReplay,
		"ReplayFindsDifferences": testReplayFindsDifferences,
		"Blobs":                  testBlobs,
		"BytesBeforeTheRow":      testBytesBeforeTheRow,
		"OversizeBytes":          testOversizeBytes,
		"SameBytesTwice":         testSameBytesTwice,
		"Collection":             testCollection,
		"CollectionRace":         testCollectionRace,
		"LateDelete":             testLateDelete,
		"MoveOutOfTheDatabase":   testMoveOutOfTheDatabase,
		"ReferencedBytes":        testReferencedBytes,
		"Turns":                  testTurns,
	}
}

// peopleTests are of who may see and do what, of secrets, and of the trail.
func peopleTests() map[string]func(*bench) {
	return map[string]func(*bench){
		"AuditIsAppendOnly":        testAuditIsAppendOnly,
		"AuditTells":               testAuditTells,
		"AuditTampering":           testAuditTampering,
		"AuditWriters":             testAuditWriters,
		"AuditPages":               testAuditPages,
		"AuditOfAccess":            testAuditOfAccess,
		"AuditExport":              testAuditExport,
		"Credentials":              testCredentials,
		"FormerSecrets":            testFormers,
		"Pins":                     testPins,
		"Grants":                   testGrants,
		"CountsByGrant":            testCountsByGrant,
		"Reach":                    testReach,
		"Members":                  testMembers,
		"AdminsAtOnce":             testAdminsAtOnce,
		"SightsOfGrants":           testSightsOfGrants,
		"GrantRules":               testGrantRules,
		"Disabling":                testDisabling,
		"Presences":                testPresences,
		"TeamMembers":              testTeamMembers,
		"Sessions":                 testSessions,
		"SessionsFollowTheRecord":  testSessionsFollowTheRecord,
		"SignOut":                  testSignOut,
		"SignInsComeBackOnce":      testSignInsComeBackOnce,
		"ExactIdentities":          testExactIdentities,
		"Tokens":                   testTokens,
		"TokensEnd":                testTokensEnd,
		"TokenRules":               testTokenRules,
		"Allowance":                testAllowance,
		"AccessIsCollected":        testAccessIsCollected,
		"OtherOrganisationsSeeNot": testOtherOrganisationsSeeNothing,
	}
}

// publications remembers what was published.
type publications struct {
	mu     sync.Mutex
	topics []string
}

func (p *publications) Publish(topics ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.topics = append(p.topics, slices.DeleteFunc(topics, func(t string) bool { return t == live.AuditTopic })...) // which comes with most deeds
}

func (p *publications) PublishAll() { p.Publish("everything") }

func (p *publications) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.topics
	p.topics = nil
	return taken
}

// bench is one test's database with short ways to use it.
type bench struct {
	limits task.Limits // of what the ledger keeps
	*testing.T
	db        *store.DB
	published *publications
	broken    bool // the test changed tasks past their ledgers
	bucket    *artifact.Bucket
	keeper    *artifact.Keeper
}

// newKeeper returns the artifacts as another process has them.
func (b *bench) newKeeper() *artifact.Keeper {
	return artifacttest.Keeper(b.db, b.bucket, artifactLimit)
}

// everything is what the organisation of these tests has.
var everything = access.Everything(access.LocalOrganisation)

// artifactLimit is how many bytes an artifact may have in these tests.
const artifactLimit = 100

// lease gives the workers a lease.
func (b *bench) lease(owners ...string) {
	b.Helper()
	b.update(func(tx *store.Tx) error {
		for _, owner := range owners {
			if err := tx.Beat(owner, time.Hour); err != nil {
				return err
			}
		}
		return nil
	})
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (b *bench) update(f func(*store.Tx) error) {
	b.Helper()
	if err := b.db.Update(context.Background(), f); err != nil {
		b.Fatalf("Update: %v", err)
	}
}

func (b *bench) view(f func(*store.Tx) error) {
	b.Helper()
	if err := b.db.View(context.Background(), f); err != nil {
		b.Fatalf("View: %v", err)
	}
}

// agent makes an agent without a card.
func (b *bench) agent() string {
	b.Helper()
	id := newID()
	b.update(func(tx *store.Tx) error {
		return tx.InsertAgent(agent.Agent{
			ID: id, OrganisationID: access.LocalOrganisation, CardURL: "http://127.0.0.1/" + id,
			Health: agent.Health{Status: agent.HealthUnknown}, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		})
	})
	return id
}

// task makes a task of a new agent that the agent has not answered yet.
func (b *bench) task(title string) (taskID, agentID string) {
	b.Helper()
	agentID = b.agent()
	return b.taskOf(agentID, title), agentID
}

func (b *bench) taskOf(agentID, title string) string {
	b.Helper()
	id := newID()
	b.update(func(tx *store.Tx) error {
		return tx.CreateTask(
			task.Head{TaskID: id, Kind: task.KindTask, State: a2a.StateUnspecified},
			task.Owner{OrganisationID: access.LocalOrganisation, AgentID: agentID, Title: title})
	})
	return id
}

// hears takes one observation in.
func (b *bench) hears(taskID, key, payload string) task.Outcome {
	b.Helper()
	return b.ingest(task.Observed{
		TaskID: taskID, Source: task.SourceStream, SourceKey: key,
		Observation: remote.Observation{Raw: []byte("data: " + payload), Payload: json.RawMessage(payload), Received: time.Now()},
	})
}

func (b *bench) ingest(o task.Observed) task.Outcome {
	b.Helper()
	o.Limits = b.limits
	prepared, err := task.Prepare(context.Background(), b.keeper, o)
	if err != nil {
		b.Fatalf("Prepare: %v", err)
	}
	var outcome task.Outcome
	b.update(func(tx *store.Tx) (err error) {
		outcome, err = task.Ingest(tx, newID, prepared)
		return err
	})
	return outcome
}

func (b *bench) asks(taskID, key, question string) {
	b.Helper()
	b.hears(taskID, key, fmt.Sprintf(`{"statusUpdate":{"taskId":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED",
		"message":{"messageId":%q,"role":"ROLE_AGENT","parts":[{"text":"Which?"}]}}}}`, taskID, question))
}

func (b *bench) record(taskID string) task.Record {
	b.Helper()
	var r task.Record
	b.view(func(tx *store.Tx) (err error) {
		r, err = tx.TaskRecord(everything, taskID)
		return err
	})
	return r
}

// command makes a pending command.
func (b *bench) command(taskID, agentID string) command.Record {
	b.Helper()
	r := b.newCommand(taskID, agentID)
	b.update(func(tx *store.Tx) error { return b.accept(tx, r) })
	return r
}

func (b *bench) newCommand(taskID, agentID string) command.Record {
	id := newID()
	return command.Record{
		Command: command.Command{
			ID: id, AgentID: agentID, TaskID: taskID, Action: command.Send, MessageID: "message-" + id,
			Status: command.Pending, Author: "Ann", CreatedAt: time.Now(), UpdatedAt: time.Now(),
		},
		OrganisationID: access.LocalOrganisation, PersonID: "ann", Key: "key-" + id, Digest: "d", RunAt: time.Now(),
		Request: command.Request{Parts: []a2a.Part{a2a.TextPart("hello")}},
	}
}

func (b *bench) accept(tx *store.Tx, r command.Record) error {
	if err := tx.InsertCommand(r); err != nil {
		return err
	}
	m := task.UserMessage(r.Command.MessageID, r.Request.Parts)
	return tx.AddUserMessage(r.Command.TaskID, m, r.Command.ID, nil)
}
