import type { HeaderReader } from "../../platform/http/request/headers.ts";
import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { RequestTrace } from "../../platform/lib/tracing/trace_context.ts";
import { spansOf, type TracedVendor } from "./request_spans.ts";
import { traceBySampling } from "./sampling.ts";
import type { SpanExporter } from "./span_exporter.ts";

/** The settings and parts of {@linkcode Tracing}. */
export interface TracingOptions {
  /** From 0 to 1. */
  readonly ratio: number;
  readonly exporter: SpanExporter;
  readonly clock: Pick<Clock, "now">;
}

/** Places requests in traces, and exports the spans of those that are sampled. */
export class Tracing {
  /** Returns the place of a request in a trace, from its header fields. */
  readonly traceOf: (headers: HeaderReader) => RequestTrace;

  constructor(readonly options: TracingOptions) {
    this.traceOf = traceBySampling(options.ratio);
  }

  /** The number of spans that the collector accepted. */
  get exported(): number {
    return this.options.exporter.exported;
  }

  /** The number of spans that were lost. */
  get dropped(): number {
    return this.options.exporter.dropped;
  }

  /**
   * Exports the spans of a request that has ended. Requests of monitoring have none.
   *
   * @param vendorOf Returns the vendor of a provider, by its configured name.
   */
  observe(record: RequestRecord, vendorOf: (provider: string) => TracedVendor): void {
    const { trace } = record;
    if (trace === null || !trace.isSampled || record.isProbe) return;
    const { exporter, clock } = this.options;
    exporter.add(spansOf(record, trace, { endedAt: clock.now(), vendorOf }));
  }

  /** Exports what is queued, for at most five seconds. */
  async close(): Promise<void> {
    await this.options.exporter.close();
  }
}
