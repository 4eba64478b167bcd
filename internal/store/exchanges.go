package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agent-taskbay/taskbay/internal/wire"
)

var _ wire.Tx = (*Tx)(nil)

// StoreExchange implements wire.Tx.
func (tx *Tx) StoreExchange(c wire.Change) error {
	request, err := json.Marshal(c.RequestHeader)
	if err != nil {
		return fmt.Errorf("write a header: %w", err)
	}
	response, err := json.Marshal(c.ResponseHeader)
	if err != nil {
		return fmt.Errorf("write a header: %w", err)
	}
	_, err = tx.exec(`INSERT INTO exchange (id, agent_id, task_id, command_id, operation, binding, version, method, url,
			request_header, request_body, request_size, status, grpc_status, response_header, response_body, response_size, events, error,
			started_us, answered_us, ended_us)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET method = excluded.method, url = excluded.url, request_header = excluded.request_header,
			request_body = excluded.request_body, request_size = excluded.request_size, status = excluded.status, grpc_status = excluded.grpc_status, response_header = excluded.response_header,
			response_body = excluded.response_body, response_size = excluded.response_size, events = excluded.events, error = excluded.error,
			answered_us = excluded.answered_us, ended_us = excluded.ended_us`,
		c.ID, c.AgentID, c.TaskID, c.CommandID, c.Operation, c.Binding, c.Version, c.Method, c.URL,
		string(request), c.RequestBody, c.RequestSize, c.Status, c.GRPCStatus, string(response), c.ResponseBody, c.ResponseSize, c.Events, c.Error,
		us(c.StartedAt), us(c.AnsweredAt), us(c.EndedAt))
	if err != nil {
		return fmt.Errorf("store an exchange: %w", err)
	}
	for _, e := range c.New {
		body := e.Body
		if body == nil {
			body = []byte{}
		}
		if _, err := tx.exec("INSERT INTO exchange_event (exchange_id, number, received_us, event_id, event_type, body, size) VALUES (?, ?, ?, ?, ?, ?, ?)",
			c.ID, e.Number, us(e.At), e.ID, e.Type, body, e.Size); err != nil {
			return fmt.Errorf("store an event of an exchange: %w", err)
		}
	}
	return nil
}

const exchangeSummary = `SELECT id, agent_id, task_id, command_id, operation, binding, version, method, url, request_size,
	status, grpc_status, response_size, events, error, started_us, answered_us, ended_us FROM exchange `

func scanExchange(s scanner) (wire.Exchange, error) {
	var e wire.Exchange
	var started, answered, ended micros
	err := s.Scan(&e.ID, &e.AgentID, &e.TaskID, &e.CommandID, &e.Operation, &e.Binding, &e.Version, &e.Method, &e.URL, &e.RequestSize,
		&e.Status, &e.GRPCStatus, &e.ResponseSize, &e.Events, &e.Error, &started, &answered, &ended)
	e.StartedAt, e.AnsweredAt, e.EndedAt = started.Time, answered.Time, ended.Time
	if errors.Is(err, sql.ErrNoRows) {
		return e, wire.ErrNoExchange()
	}
	return e, err
}

// AgentExchanges implements wire.Tx.
func (tx *Tx) AgentExchanges(agentID string, limit int) ([]wire.Exchange, int, error) {
	return tx.exchanges("WHERE agent_id = ?", limit, agentID)
}

// TaskExchanges implements wire.Tx. Those of tasks that became this one are among
// them.
func (tx *Tx) TaskExchanges(taskID string, limit int) ([]wire.Exchange, int, error) {
	return tx.exchanges("WHERE task_id IN (SELECT id FROM task WHERE id = ? OR merged_into = ?)", limit, taskID, taskID)
}

func (tx *Tx) exchanges(where string, limit int, args ...any) ([]wire.Exchange, int, error) {
	var total int
	if err := tx.row("SELECT COUNT(*) FROM exchange "+where, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count exchanges: %w", err)
	}
	list, err := collect(tx, scanExchange, exchangeSummary+where+" ORDER BY started_us DESC, id DESC LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, 0, fmt.Errorf("read exchanges: %w", err)
	}
	return list, total, nil
}

// Answer implements wire.Tx.
func (tx *Tx) Answer(id string) (body []byte, err error) {
	if err = tx.row("SELECT response_body FROM exchange WHERE id = ?", id).Scan(&body); err != nil {
		err = fmt.Errorf("read the answer of exchange %s: %w", id, err)
	}
	return body, err
}

// Exchange implements wire.Tx.
func (tx *Tx) Exchange(id string) (wire.Exchange, []wire.Event, error) {
	e, err := scanExchange(tx.row(exchangeSummary+"WHERE id = ?", id))
	if err != nil {
		return e, nil, err
	}
	var request, response string
	if err := tx.row("SELECT request_header, request_body, response_header, response_body FROM exchange WHERE id = ?", id).
		Scan(&request, &e.RequestBody, &response, &e.ResponseBody); err != nil {
		return e, nil, fmt.Errorf("read exchange %s: %w", id, err)
	}
	for text, header := range map[string]*http.Header{request: &e.RequestHeader, response: &e.ResponseHeader} {
		if err := json.Unmarshal([]byte(text), header); err != nil {
			return e, nil, fmt.Errorf("read a header of exchange %s: %w", id, err)
		}
	}
	events, err := collect(tx, scanEvent, "SELECT number, received_us, event_id, event_type, body, size FROM exchange_event WHERE exchange_id = ? ORDER BY number", id)
	if err != nil {
		return e, nil, fmt.Errorf("read the events of exchange %s: %w", id, err)
	}
	return e, events, nil
}

func scanEvent(s scanner) (wire.Event, error) {
	var e wire.Event
	var at micros
	err := s.Scan(&e.Number, &at, &e.ID, &e.Type, &e.Body, &e.Size)
	e.At = at.Time
	return e, err
}

// LastAnswered implements wire.Tx.
func (tx *Tx) LastAnswered(agentID string) (wire.Exchange, error) {
	return scanExchange(tx.row(exchangeSummary+`WHERE agent_id = ? AND operation <> 'AgentCard' AND (status <> 0 OR grpc_status <> '')
		ORDER BY started_us DESC, id DESC LIMIT 1`, agentID))
}

// KeepExchanges implements wire.Tx. It reads as many entries of an index as are kept.
func (tx *Tx) KeepExchanges(agentID string, most int) error {
	_, err := tx.exec(`DELETE FROM exchange WHERE agent_id = ? AND (started_us, id) < (SELECT started_us, id FROM exchange
		WHERE agent_id = ? ORDER BY started_us DESC, id DESC LIMIT 1 OFFSET ?)`, agentID, agentID, most-1)
	if err != nil {
		return fmt.Errorf("drop exchanges of agent %s: %w", agentID, err)
	}
	return nil
}

// PruneExchanges implements wire.Tx.
func (tx *Tx) PruneExchanges(before time.Time) error {
	if _, err := tx.exec("DELETE FROM exchange WHERE started_us < ?", us(before)); err != nil {
		return fmt.Errorf("drop old exchanges: %w", err)
	}
	return nil
}
