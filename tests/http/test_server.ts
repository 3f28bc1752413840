import { accessLog } from "../../src/platform/http/access_log.ts";
import { createRequestHandler, type RequestHandlerOptions } from "../../src/platform/http/request_handler.ts";
import type { ErrorRenderer, Inbound, Route } from "../../src/platform/http/request/inbound.ts";
import { readJsonObject } from "../../src/platform/http/bodies/json_body.ts";
import { listen, type Listening } from "../../src/platform/http/listen.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import type { Log, LogFields } from "../../src/platform/lib/basics/log.ts";
import type { DeadlineWheel, Watched } from "../../src/platform/net/deadline.ts";
import { createIsolateHandler } from "../../src/entry/app/threads/isolate_handler.ts";
import { createRouter } from "../../src/entry/app/routing/router.ts";
import { relayedAddressOf, relayedHandler, ThreadRelay } from "../../src/threads/serving/relay.ts";

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

/** How a server accepts connections: itself, as with one thread, or in another thread that relays its requests. */
export type Door = "direct" | "relayed";

/** Registers a test for both kinds of server: what the front door answers does not depend on the threads. */
export function testDoors(
  name: string,
  run: (openServer: (extra?: readonly Route[]) => Promise<TestServer>) => Promise<void>,
): void {
  Deno.test(name, () => run((extra) => openTestServer(extra)));
  Deno.test(`with two threads: ${name}`, () => run((extra) => openTestServer(extra, "relayed")));
}

/** Opens a test server on a free port. */
export async function openTestServer(extra: readonly Route[] = [], door: Door = "direct"): Promise<TestServer> {
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
  const options = { router, log, clock: systemClock, observer: accessLog(log, systemClock) };
  const listening = await (door === "direct" ? listenDirectly(options) : listenRelayed(options));
  return {
    port: listening.port,
    served,
    lines,
    wheel,
    [Symbol.asyncDispose]: () => listening.close(),
  };
}

interface OpenedDoor {
  readonly port: number;
  close(): Promise<void>;
}

async function listenDirectly(options: RequestHandlerOptions): Promise<OpenedDoor> {
  return openedDoor(await listen({ ...LOOPBACK, handler: createRequestHandler(options), log: options.log }));
}

/** The two handlers that a request passes if another thread has accepted it. */
async function listenRelayed(options: RequestHandlerOptions): Promise<OpenedDoor> {
  const { log } = options;
  const token = crypto.randomUUID();
  const main = createRequestHandler({ ...options, addressOf: relayedAddressOf });
  const inner = openedDoor(await listen({ ...LOOPBACK, handler: relayedHandler(main, token), log }));
  const relay = new ThreadRelay({ port: inner.port, token }, systemClock);
  const handler = createIsolateHandler({ ...options, relay, serves: () => null });
  const outer = openedDoor(await listen({ ...LOOPBACK, handler, log }));
  return {
    port: outer.port,
    async close() {
      await outer.close();
      relay.close();
      await inner.close();
    },
  };
}

const LOOPBACK = { host: "127.0.0.1", port: 0 };

function openedDoor(listening: Listening): OpenedDoor {
  return {
    port: listening.port,
    async close() {
      await listening.shutdown(0);
      await listening.closed;
    },
  };
}
