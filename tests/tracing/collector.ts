import type { Attribute, Span } from "../../src/observers/tracing/otlp.ts";

/** A collector on loopback. */
export interface Collector {
  /** For `tracing.endpoint`. */
  readonly endpoint: string;
  /** All received spans, with their attributes by name. */
  readonly spans: readonly CollectedSpan[];
  /** The bodies and header fields of the exports. */
  readonly exports: readonly { readonly body: string; readonly headers: Headers }[];
  stop(): Promise<void>;
}

/** A span as it was received. */
export interface CollectedSpan extends Omit<Span, "attributes"> {
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

/** Starts a collector. */
export function startCollector(): Collector {
  const spans: CollectedSpan[] = [];
  const exports: { body: string; headers: Headers }[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = await request.text();
    exports.push({ body, headers: request.headers });
    for (const { scopeSpans } of JSON.parse(body).resourceSpans) {
      for (const scope of scopeSpans) {
        for (const span of scope.spans as Span[]) spans.push({ ...span, attributes: valuesOf(span.attributes) });
      }
    }
    return Response.json({});
  });
  return {
    endpoint: `http://127.0.0.1:${server.addr.port}/v1/traces`,
    spans,
    exports,
    stop: () => server.shutdown(),
  };
}

function valuesOf(attributes: readonly Attribute[]): Record<string, string | number | boolean> {
  return Object.fromEntries(attributes.map(({ key, value }) => {
    if ("intValue" in value) return [key, Number(value.intValue)];
    return [key, Object.values(value)[0]];
  }));
}
