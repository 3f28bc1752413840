import { accessLog } from "../../src/http/access_log.ts";
import { createRequestHandler } from "../../src/http/request_handler.ts";
import type { ErrorRenderer, Inbound, Route } from "../../src/http/inbound.ts";
import { readJsonObject } from "../../src/http/json_body.ts";
import { listen, type Listening } from "../../src/http/listen.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { Log, LogFields } from "../../src/lib/log.ts";
import type { DeadlineWheel, Watched } from "../../src/net/deadline.ts";
import { createRouter } from "../../src/app/router.ts";

/** A server with a few simple routes behind the gateway's real HTTP stack. */
export interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** The requests that reached a handler: method, path, query. */
  readonly served: string[];
  readonly lines: (LogFields & { event: string; level: string })[];
  readonly wheel: ManualDeadlineWheel;
}

/** A deadline wheel whose deadlines the test triggers. */
export class ManualDeadlineWheel implements DeadlineWheel {
  readonly watched = new Set<Watched>();
  #changed = Promise.withResolvers<void>();
  now = Date.now;

  watch(watched: Watched): void {
    this.watched.add(watched);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  unwatch(watched: Watched): void {
    this.watched.delete(watched);
  }

  /** Waits until a deadline is watched, then lets it pass. */
  async expire(): Promise<void> {
    if (this.watched.size === 0) await this.#changed.promise;
    for (const watched of this.watched) {
      this.watched.delete(watched);
      watched.onDeadline();
    }
  }
}

/** Renders errors as `{shape, code, message}`. */
export function renderAs(shape: string): ErrorRenderer {
  return (error, requestId) =>
    Response.json({ shape, code: error.code, message: error.message, requestId }, { status: error.status });
}

/** Opens a test server on a free port. */
export async function openTestServer(extra: readonly Route[] = []): Promise<TestServer> {
  const served: string[] = [];
  const lines: TestServer["lines"][number][] = [];
  const wheel = new ManualDeadlineWheel();
  const renderError = renderAs("default");
  const note = (inbound: Inbound) => void served.push(`${inbound.method} ${inbound.path}?${inbound.query}`);
  const echo = (inbound: Inbound) => {
    note(inbound);
    return Response.json({ params: inbound.params, authorization: inbound.request.headers.get("authorization") });
  };
  const read = async (inbound: Inbound) => {
    const { bytes, scan } = await readJsonObject(inbound, { capBytes: 100_000, wheel });
    note(inbound);
    return Response.json({
      length: bytes.length,
      keys: scan.members.map((member) => member.key),
      authorization: inbound.request.headers.get("authorization"),
    });
  };
  const routes: Route[] = [
    { method: "GET", path: "/v1/models", handler: echo, renderError },
    { method: "GET", path: "/v1/models/:provider/:model", handler: echo, renderError },
    { method: "POST", path: "/v1/read", handler: read, renderError },
    { method: "GET", path: "/v1/videos/:id", handler: echo, renderError: renderAs("video") },
    { method: "DELETE", path: "/v1/videos/:id", handler: echo, renderError: renderAs("video") },
    ...extra,
  ];
  const router = createRouter(routes, {
    renderError,
    sections: [{ prefix: "/msgcompat", renderError: renderAs("message") }, {
      prefix: "/v1/videos",
      renderError: renderAs("video"),
    }],
  });
  const log = Object.fromEntries((["debug", "info", "warn", "error"] as const).map((level) => [
    level,
    (event: string, fields: LogFields = {}) => void lines.push({ level, event, ...fields }),
  ])) as unknown as Log;
  const handler = createRequestHandler({ router, log, clock: systemClock, observer: accessLog(log, systemClock) });
  const listening: Listening = await listen({ host: "127.0.0.1", port: 0, handler, log });
  return {
    port: listening.port,
    served,
    lines,
    wheel,
    async [Symbol.asyncDispose]() {
      await listening.shutdown(0);
      await listening.closed;
    },
  };
}
