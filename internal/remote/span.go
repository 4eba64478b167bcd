package remote

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// startSpan begins the span of a call. It says which operation of which agent for
// which task, and nothing of what is said. Nothing of it is sent to the agent.
func (c *Client) startSpan(ctx context.Context, op operation, agentID string) (context.Context, trace.Span) {
	labels, _ := ctx.Value(labelsKey{}).(Labels)
	attributes := []attribute.KeyValue{attribute.String("a2a.operation", op.name), attribute.String("taskbay.agent.id", agentID)}
	if labels.TaskID != "" {
		attributes = append(attributes, attribute.String("taskbay.task.id", labels.TaskID))
	}
	if labels.CommandID != "" {
		attributes = append(attributes, attribute.String("taskbay.command.id", labels.CommandID))
	}
	return c.tracer.Start(ctx, op.name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
}

// endSpan ends the span of the call with how it ended.
func (c *call) endSpan() {
	c.span.SetAttributes(attribute.String("a2a.binding", c.binding.name), attribute.String("a2a.version", c.binding.version))
	if c.err != nil {
		c.span.SetStatus(codes.Error, string(c.err.Delivery))
	}
	c.span.End()
}
