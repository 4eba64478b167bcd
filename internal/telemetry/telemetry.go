// Package telemetry tells how a process is doing: metrics for Prometheus, traces
// for OpenTelemetry, and the IDs that tie lines of the log together. Nothing in it
// carries content or secrets, and nothing is sent anywhere unless an endpoint is
// configured.
package telemetry

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// endTime is how long the last spans may take to be sent.
const endTime = 3 * time.Second

// Traces makes the spans of a process.
type Traces struct {
	trace.Tracer
	end func(context.Context) error
}

// NewTraces returns traces that are sent over OTLP/HTTP to an endpoint, the address
// of a collector without /v1/traces. If it is nil, none are made. Headers, sampling,
// and the name of the service are those of the OTEL_ variables of the environment.
func NewTraces(ctx context.Context, endpoint *url.URL, version string) (*Traces, error) {
	if endpoint == nil {
		return &Traces{noop.Tracer{}, func(context.Context) error { return nil }}, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint.JoinPath("v1/traces").String()))
	if err != nil {
		return nil, fmt.Errorf("send traces to %s: %w", endpoint.Redacted(), err)
	}
	service, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "taskbay"), attribute.String("service.version", version)),
		resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("name the service for traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(service))
	return &Traces{provider.Tracer("github.com/agent-taskbay/taskbay"), provider.Shutdown}, nil
}

// Close sends what is left.
func (t *Traces) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := t.end(ctx); err != nil {
		return fmt.Errorf("send the last traces: %w", err)
	}
	return nil
}
