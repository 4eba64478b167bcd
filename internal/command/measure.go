package command

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// measure begins to measure an attempt, and to trace it. ended must be called with
// what the command became.
func (d *Dispatcher) measure(ctx context.Context, r Record) (traced context.Context, ended func(Status)) {
	began := time.Now()
	if d.Meter != nil {
		d.Meter.Dispatching(r.Command.Action, began.Sub(r.RunAt))
	}
	tracer := d.Tracer
	if tracer == nil {
		tracer = noop.Tracer{}
	}
	traced, span := tracer.Start(ctx, "dispatch "+string(r.Command.Action), trace.WithAttributes(
		attribute.String("taskbay.command.id", r.Command.ID), attribute.String("taskbay.task.id", r.Command.TaskID),
		attribute.String("taskbay.agent.id", r.Command.AgentID), attribute.Int("taskbay.command.attempt", r.Command.Attempts)))
	return traced, func(became Status) {
		if d.Meter != nil {
			d.Meter.Dispatched(r.Command.Action, became, time.Since(began))
		}
		span.SetAttributes(attribute.String("taskbay.command.status", string(became)))
		if became != Succeeded {
			span.SetStatus(codes.Error, string(became))
		}
		span.End()
	}
}
