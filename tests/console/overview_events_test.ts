import { assert, assertEquals } from "@std/assert";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { LIVE_TICK_MS, type LivePart, LiveStreams } from "../../src/protocols/admin/shared/live_streams.ts";
import { startTestGateway, type TestGatewayOptions } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { ConsoleBrowser } from "./browser.ts";

const PATH = "/admin/v1/overview/events";
const READ = "key-of-the-dashboard";
const SERVER = {
  port: 0,
  admin_key: "key-of-the-owner",
  admin_keys: [{ name: "dashboard", key: READ, role: "read" }],
  shutdown_grace: 1,
};

/** Reads the events of a stream one after the other. */
class Events {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #events: EventSourceMessage[] = [];
  readonly #parser = createParser({ onEvent: (event) => void this.#events.push(event) });

  constructor({ body }: Response) {
    assert(body !== null);
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Null at the end. */
  async next(): Promise<EventSourceMessage | null> {
    while (this.#events.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) return null;
      this.#parser.feed(value);
    }
    return this.#events.shift() ?? null;
  }

  /** The data of the next event of a name that fulfils a condition. */
  // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
  async find(name: string, isFound: (data: any) => boolean = () => true): Promise<any> {
    for (let event = await this.next(); event !== null; event = await this.next()) {
      const data = JSON.parse(event.data);
      if (event.event === name && isFound(data)) return data;
    }
    throw new Error(`The stream ended before ${name}`);
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}

async function start(options: TestGatewayOptions = {}) {
  const gateway = await startTestGateway({ ...options, config: { server: SERVER, ...options.config } });
  const open = async (key = READ, query = "") => {
    const response = await fetch(gateway.address + PATH + query, { headers: { authorization: `Bearer ${key}` } });
    return { response, events: response.status === 200 ? new Events(response) : null };
  };
  const opened = async (key?: string) => {
    const { events } = await open(key);
    assert(events !== null);
    return events;
  };
  const chat = async (model: string) => {
    const response = await fetch(`${gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Say hello" }] }),
    });
    await response.body?.cancel();
  };
  return { gateway, open, opened, chat };
}

Deno.test("overview events: the traffic and the providers come first, and each change after it", async () => {
  const { gateway, open, chat } = await start();
  const { response, events } = await open(READ, "?span=day");
  assert(events !== null);
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  assertEquals(response.headers.get("cache-control"), "no-store");
  const first = await events.find("traffic");
  assertEquals([first.span, first.total.requests], ["day", 0]);
  const providers = await events.find("providers");
  assertEquals(providers.data.length, 3);
  await chat("sandbox/chat-1");
  const after = await events.find("traffic", ({ total }) => total.requests > 0);
  assertEquals([after.total.requests, Object.keys(first), typeof after.now.open_streams], [
    1,
    Object.keys(after),
    "number",
  ]);
  // deno-lint-ignore no-explicit-any -- as above
  await events.find("providers", ({ data }) => data.some((each: any) => each.succeeded === 1));
  await events.leave();
  await gateway.stop();
});

Deno.test("overview events: an open stream does not count as a request", async () => {
  const { gateway, opened } = await start();
  const events = await opened();
  await events.find("traffic");
  await events.leave();
  const headers = { authorization: `Bearer ${READ}` };
  const { total } = await (await fetch(`${gateway.address}/admin/v1/traffic`, { headers })).json();
  assertEquals(total.requests, 0);
  const head = await fetch(gateway.address + PATH, { method: "HEAD", headers });
  assertEquals([head.status, await head.text()], [200, ""]);
  await gateway.stop();
});

Deno.test("overview events: they need an admin key and a known span", async () => {
  const { gateway, open } = await start();
  for (const [key, query, status] of [[gateway.key, "", 401], [READ, "?span=year", 400], [READ, "?every=1", 400]]) {
    const { response } = await open(String(key), String(query));
    assertEquals(response.status, status);
    await response.body?.cancel();
  }
  await gateway.stop();
});

Deno.test("overview events: a stream ends when its key is revoked, and when the gateway stops", async () => {
  const { gateway, opened } = await start();
  const headers = { authorization: `Bearer ${SERVER.admin_key}`, "content-type": "application/json" };
  const body = JSON.stringify({ name: "wall", role: "read" });
  const created = await fetch(`${gateway.address}/admin/v1/admin-keys`, { method: "POST", headers, body });
  const { id, secret } = await created.json();
  const [revoked, other] = [await opened(secret), await opened()];
  for (const each of [revoked, other]) await each.find("providers");
  await (await fetch(`${gateway.address}/admin/v1/admin-keys/${id}`, { method: "DELETE", headers })).body?.cancel();
  while (await revoked.next() !== null) { /* changes before the end */ }
  const stopped = gateway.stop();
  while (await other.next() !== null) { /* as above */ }
  await stopped;
});

Deno.test("overview events: a session of the console opens them, and they end with it", async () => {
  const { gateway } = await start();
  const visitor = new ConsoleBrowser(gateway.address);
  await visitor.signIn(READ);
  const headers = { cookie: visitor.cookie, "sec-fetch-site": "same-origin" };
  const events = new Events(await fetch(`${gateway.address}/console/api${PATH}`, { headers }));
  await events.find("traffic");
  await visitor.send("DELETE", "/console/session");
  while (await events.next() !== null) { /* changes before the end */ }
  const refused = await fetch(`${gateway.address}/console/api${PATH}`, { headers });
  assertEquals(refused.status, 401);
  await refused.body?.cancel();
  await gateway.stop();
});

const decoder = new TextDecoder();

/** Streams of a state that a test changes. */
function stage() {
  const clock = new ManualClock();
  const streams = new LiveStreams(clock);
  const state = { reads: 0, version: "1", isAuthorized: true };
  const source = {
    read: (): Promise<LivePart[]> => {
      state.reads++;
      return Promise.resolve([{ event: "state", data: { reads: state.reads }, version: state.version }]);
    },
    isAuthorized: () => Promise.resolve(state.isAuthorized),
  };
  /** Passes ticks, and waits for the reads of each. */
  const pass = async (ticks: number) => {
    for (let count = 0; count < ticks; count++) {
      clock.advance(LIVE_TICK_MS);
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  return { clock, streams, state, source, pass };
}

async function next(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | null> {
  const { value } = await reader.read();
  return value === undefined ? null : decoder.decode(value);
}

Deno.test("LiveStreams sends what has changed, and everything again after 15 seconds without a change", async () => {
  const { streams, state, source, pass } = stage();
  const reader = streams.open("ci", source).getReader();
  assertEquals(await next(reader), 'event: state\ndata: {"reads":1}\n\n');
  await pass(3);
  state.version = "2";
  await pass(1);
  assertEquals(await next(reader), 'event: state\ndata: {"reads":5}\n\n');
  await pass(15);
  assertEquals(await next(reader), 'event: state\ndata: {"reads":20}\n\n');
  await reader.cancel();
});

Deno.test("LiveStreams: a slow client gets the newest state alone, and is disconnected after a minute", async () => {
  const { streams, state, source, pass } = stage();
  const reader = streams.open("ci", source).getReader();
  for (const version of ["2", "3", "4"]) {
    await pass(1);
    state.version = version;
  }
  assertEquals(await next(reader), 'event: state\ndata: {"reads":1}\n\n');
  await pass(1);
  assertEquals(await next(reader), 'event: state\ndata: {"reads":2}\n\n');
  state.version = "5";
  await pass(62);
  assertEquals(await next(reader), 'event: state\ndata: {"reads":3}\n\n');
  assertEquals(await next(reader), null);
});

Deno.test("LiveStreams: the streams of a key and of all keys are limited, and no timer stays", async () => {
  const { clock, streams, source } = stage();
  const refusal = (operator: string) => {
    try {
      streams.open(operator, source);
    } catch (error) {
      return error instanceof Error ? error.message : null;
    }
    return null;
  };
  const opened = Array.from({ length: 64 }, (_, index) => streams.open(`operator ${index % 4}`, source));
  assertEquals(
    refusal("operator 0"),
    "Cannot open another event stream: this admin key has 16 open, which is the maximum",
  );
  assertEquals(refusal("another"), "Cannot open another event stream: 64 are open, which is the maximum");
  await itemAt(opened, 0).cancel();
  assertEquals(refusal("another"), null);
  streams.close();
  assertEquals(clock.waiting, 0);
  assertEquals(refusal("late"), null);
  assertEquals(clock.waiting, 0);
});

Deno.test("LiveStreams: a stream ends when its key is not valid any more, and a failed read ends none", async () => {
  const { clock, streams, state, source, pass } = stage();
  let failures = 0;
  const failing = {
    ...source,
    read: () => failures++ === 0 ? Promise.reject(new Error("the store is unavailable")) : source.read(),
  };
  const reader = streams.open("ci", failing).getReader();
  await until(() => failures === 1);
  await pass(1);
  assertEquals(await next(reader), 'event: state\ndata: {"reads":1}\n\n');
  state.isAuthorized = false;
  await pass(1);
  assertEquals([await next(reader), clock.waiting], [null, 0]);
});

Deno.test("GET /admin/v1/traffic has the traffic before a restart", async () => {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-traffic-" });
  const options = { store: `kv:${folder}/store.db`, config: { server: SERVER } };
  const traffic = async (address: string) => {
    const headers = { authorization: `Bearer ${READ}` };
    return await (await fetch(`${address}/admin/v1/traffic?span=month`, { headers })).json();
  };
  try {
    const first = await startTestGateway(options);
    const before = await traffic(first.address);
    await (await fetch(`${first.address}/v1/models`)).text();
    await (await fetch(`${first.address}/nothing`)).text();
    await first.stop();
    const second = await startTestGateway(options);
    const { total } = await traffic(second.address);
    assertEquals(before.total.requests, 0);
    // The list of models, and the first reading of the traffic. An unknown path is counted apart.
    assertEquals([total.requests, total.errors], [2, {}]);
    await second.stop();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
