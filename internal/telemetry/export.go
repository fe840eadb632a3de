package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	toprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// export makes the providers with their exporters, and reports whether there is anything to record.
func (t *Telemetry) export(ctx context.Context) (on bool, err error) {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return false, nil
	}
	spans, meters := destination("TRACES"), destination("METRICS")
	if !t.o.Metrics && !t.o.LangSmith.Tracing && spans == "" && meters == "" {
		return false, nil
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", workflow), attribute.String("service.version", t.o.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv()) // not the command line, which may hold a question
	if err != nil {
		return false, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	tracing, err := t.spanExporters(ctx, spans)
	if err != nil {
		return false, err
	}
	metering, err := t.meterReaders(ctx, meters)
	if err != nil {
		return false, err
	}
	t.traces = sdktrace.NewTracerProvider(append(tracing, sdktrace.WithResource(about))...)
	t.metrics = metric.NewMeterProvider(append(metering, metric.WithResource(about))...)
	var once sync.Once // so that a collector that is away does not fill the log
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		once.Do(func() {
			t.o.Logger.WarnContext(ctx, "telemetry could not be sent, and this is said once", "error", err)
		})
	}))
	return true, nil
}

// destination is the endpoint of a signal in the environment; "" is none.
func destination(signal string) string {
	if v := os.Getenv("OTEL_" + signal + "_EXPORTER"); v != "" && v != "otlp" {
		return ""
	}
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
}

// checkDestination refuses what would be sent nowhere.
func (t *Telemetry) checkDestination(signal, endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("the endpoint of OTLP must be an http or https address, such as http://localhost:4318 (OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_%s_ENDPOINT)", signal)
	}
	protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	if protocol == "grpc" {
		return errors.New("OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and ragflow sends over HTTP: set it to http/protobuf, and name the port for HTTP, which is usually 4318")
	}
	t.recipients = append(t.recipients, u.Scheme+"://"+u.Host)
	return nil
}

const langSmithEndpoint = "https://api.smith.langchain.com"

// spanExporters send spans to the endpoint of the environment and to LangSmith. Each has a queue of its own, which
// drops spans when it is full.
func (t *Telemetry) spanExporters(ctx context.Context, endpoint string) (out []sdktrace.TracerProviderOption, err error) {
	add := func(o ...otlptracehttp.Option) error {
		e, err := otlptracehttp.New(ctx, o...)
		out = append(out, sdktrace.WithBatcher(e))
		return err
	}
	if endpoint != "" {
		if err := t.checkDestination("TRACES", endpoint); err != nil {
			return nil, err
		}
		if err := add(); err != nil {
			return nil, fmt.Errorf("export spans: %w", err)
		}
	}
	l := t.o.LangSmith
	if !l.Tracing {
		return out, nil
	}
	if l.Key == "" {
		return nil, errors.New("LANGSMITH_TRACING is true, but there is no key: set LANGSMITH_API_KEY")
	}
	address := cmp.Or(l.Endpoint, langSmithEndpoint)
	headers := map[string]string{"x-api-key": l.Key}
	if l.Project != "" {
		headers["Langsmith-Project"] = l.Project
	}
	t.recipients = append(t.recipients, address)
	if err := add(otlptracehttp.WithEndpointURL(address+"/otel/v1/traces"), otlptracehttp.WithHeaders(headers)); err != nil {
		return nil, fmt.Errorf("export spans to LangSmith: %w", err)
	}
	return out, nil
}

// meterReaders read the metrics for the endpoint of the environment and for Handler.
func (t *Telemetry) meterReaders(ctx context.Context, endpoint string) (out []metric.Option, err error) {
	if endpoint != "" {
		if err := t.checkDestination("METRICS", endpoint); err != nil {
			return nil, err
		}
		e, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("export metrics: %w", err)
		}
		out = append(out, metric.WithReader(metric.NewPeriodicReader(e)))
	}
	if !t.o.Metrics {
		return out, nil
	}
	t.registry = prometheus.NewRegistry()
	t.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	e, err := toprometheus.New(toprometheus.WithRegisterer(t.registry), toprometheus.WithoutScopeInfo())
	if err != nil {
		return nil, fmt.Errorf("metrics for Prometheus: %w", err)
	}
	t.snapshot = metric.NewManualReader()
	return append(out, metric.WithReader(e), metric.WithReader(t.snapshot)), nil
}
