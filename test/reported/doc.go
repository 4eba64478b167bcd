// Package reported plays faults that were reported of A2A agents and clients, each
// by a fake agent and over every binding where it can occur: testdata/reported.json
// says what each agent does, where that was reported, and what is expected.
package reported
