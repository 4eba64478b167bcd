package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/felixge/httpsnoop"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// RequestIDHeader carries a request's ID back to whoever made it.
const RequestIDHeader = "X-Request-Id"

type requestKey struct{}

// Requests gives every request an ID, which the response carries and lines of the
// log name, and makes its metric, its span and its line in the log (at debug). Of a
// path only the route that it matched is told, and never a query: they may hold what
// people look for.
func (m *Metrics) Requests(next http.Handler, tracer trace.Tracer, newID func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		id := newID()
		w.Header().Set(RequestIDHeader, id)
		ctx := context.WithValue(propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header)), requestKey{}, id)
		ctx, span := tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		r = r.WithContext(ctx)
		status, first := http.StatusOK, time.Duration(0)
		next.ServeHTTP(httpsnoop.Wrap(w, httpsnoop.Hooks{
			WriteHeader: func(write httpsnoop.WriteHeaderFunc) httpsnoop.WriteHeaderFunc {
				return func(code int) {
					if first == 0 && code >= 200 {
						status, first = code, time.Since(began)
					}
					write(code)
				}
			},
		}), r)
		took := time.Since(began)
		if first == 0 {
			first = took
		}
		route, method := routeOf(r), methodOf(r)
		m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(first.Seconds())
		span.SetName(method + " " + route)
		span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
			attribute.Int("http.response.status_code", status), attribute.String("taskbay.request.id", id))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
		m.log.DebugContext(ctx, "request", slog.String("method", method), slog.String("route", route), slog.Int("status", status), slog.Duration("took", took))
	})
}

// routeOf is the path of the pattern that a request matched. Others have one name together, so
// that nobody can make names without end.
func routeOf(r *http.Request) string {
	if !strings.Contains(r.Pattern, "/") {
		return "other"
	}
	return r.Pattern[strings.IndexByte(r.Pattern, '/'):]
}

func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// LogHandler adds to each line that is logged within a request the ID of that
// request, and of its trace if there is one.
func LogHandler(next slog.Handler) slog.Handler { return idHandler{next} }

type idHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h idHandler) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := ctx.Value(requestKey{}).(string); ok {
		r.AddAttrs(slog.String("request", id))
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		r.AddAttrs(slog.String("trace", span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h idHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return idHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h idHandler) WithGroup(name string) slog.Handler { return idHandler{h.Handler.WithGroup(name)} }
