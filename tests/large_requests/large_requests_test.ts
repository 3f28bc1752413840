import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { Credential } from "../../src/money/billing/keys/key_ring.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import { OpenStreams } from "../../src/services/calls/stream_relay.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { readConfig } from "../../src/config/config.ts";
import { chat } from "../../src/conversation/codecs/chat/mod.ts";
import { content } from "../../src/conversation/codecs/content/mod.ts";
import { CALLER_ENDPOINTS } from "../../src/platform/endpoints/callers.ts";
import type { Inbound } from "../../src/platform/http/request/inbound.ts";
import { RequestRecord } from "../../src/platform/http/request/request_record.ts";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import type { HandedRequest, ReplyMessage } from "../../src/threads/state/handed_request.ts";
import { LargeRequests } from "../../src/threads/serving/large_requests.ts";
import type { StateThread } from "../../src/threads/state/state_thread.ts";
import type { FromServing, ToServing } from "../../src/threads/serving/messages.ts";
import { readMessages } from "../../src/threads/serving/wire.ts";
import { createCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { BoundedMemory } from "../../src/services/texts/memory/bounded_memory.ts";
import { ThreadUnavailable, type WorkerThreadEvents } from "../../src/platform/workers/worker_thread.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openPorts } from "../support/open_ports.ts";
import { stateOf } from "../support/patience.ts";
import { unlimitedKey } from "../support/callers.ts";

/** A thread that follows the test's script. */
class ScriptedThread implements StateThread {
  readonly got: ToServing[] = [];
  terminated = false;

  constructor(readonly events: WorkerThreadEvents) {}

  post(messages: unknown): void {
    this.got.push(...readMessages<ToServing>(messages));
  }

  sendResult(): void {}

  terminate(): void {
    this.terminated = true;
  }

  setReferenced(): void {}

  say(message: FromServing): void {
    this.events.onMessage([message]);
  }

  /** The ids of the requests that it received. */
  get requests(): number[] {
    return this.got.flatMap((message) => message.type === "request" ? [message.id] : []);
  }

  /** A request that it was handed. */
  async request(id: number): Promise<HandedRequest> {
    const isMeant = (message: ToServing) => message.type === "request" && message.id === id;
    const message = await stateOf(`request ${id} is there`, () => this.got.find(isMeant), (got) => got !== undefined);
    return (message as RequestMessage).request;
  }

  /** Sends the response to a request: all of it, or a stream. */
  async respond(id: number, body: string | ReadableStream<Uint8Array<ArrayBuffer>>, type: string): Promise<void> {
    const { reply } = await this.request(id);
    const sent = typeof body === "string" ? bufferOf(body) : body;
    const headers = [["content-type", type]] as const;
    const moved: Transferable[] = [sent];
    reply.postMessage(
      { type: "response", status: 200, headers, body: sent, rates: null } satisfies ReplyMessage,
      moved,
    );
  }

  /** A request has ended, with what was collected about it. */
  async end(id: number, facts = unobservedRecord().facts()): Promise<void> {
    const { reply } = await this.request(id);
    reply.postMessage({ type: "record", facts } satisfies ReplyMessage);
    reply.close();
    this.say({ type: "ended", id });
  }

  /** Answers a request with an object, and ends it. */
  async answer(id: number): Promise<void> {
    await this.respond(id, "{}", JSON_TYPE);
    await this.end(id);
  }

  /** The result of the latest call. */
  async result(): Promise<unknown> {
    const last = await stateOf("a call has ended", () => this.got.at(-1), (message) => message?.type === "result");
    return last?.type === "result" ? last.failure ?? last.value : undefined;
  }
}

type RequestMessage = ToServing & { readonly type: "request" };

const EVENTS = "text/event-stream";
const JSON_TYPE = "application/json";

/** A stream that the test writes, and how often it was asked for a chunk. */
function scriptedStream() {
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  let pulls = 0;
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (own) => void (controller = own),
    pull: () => void pulls++,
    cancel: () => void (isCancelled = true),
  }, { highWaterMark: 0 });
  return {
    stream,
    write: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    close: () => controller?.close(),
    pulls: () => pulls,
    isCancelled: () => isCancelled,
  };
}

/** Lets messages arrive. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

const MODEL = readModel({
  id: "acme/m",
  pricing: { prompt: "0.000001", completion: "0.000002" },
  serves: [{ provider: "acme", model: "m" }],
});
const RESERVED = { amount: 1_000n, outputLimit: null };
const TARGET = { provider: "acme", model: "m" };

async function stage({ maxThreads = 1, canStart = (): boolean => true } = {}) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = jsonLog("debug", (line) => void lines.push(line));
  const store = await openMemoryStore({ clock });
  const credit = { account: "demo", available: 10_000_000_000n, held: 0n };
  await store.commit(null, {
    changeBalances: [credit],
    ledgerEntries: [{ ...credit, operation: "credit", reference: "start" }],
  });
  const threads: ScriptedThread[] = [];
  const meter = createMeter({ store, clock, log });
  const live = new OpenStreams();
  const large = new LargeRequests({
    config: readConfig("{}", "test.json", () => undefined),
    entry: new URL("file:///unused.ts"),
    own: [],
    openStreams: live,
    memory: UNLIMITED_MEMORY,
    meter,
    store,
    breaker: createCircuitBreaker({ clock }),
    catalog: createCatalog([MODEL]),
    reasoning: new BoundedMemory(clock),
    items: new BoundedMemory(clock),
    clock,
    log,
    maxThreads,
    start: (events) => {
      if (!canStart()) throw new ThreadUnavailable();
      const thread = new ScriptedThread(events);
      threads.push(thread);
      return thread;
    },
  });
  const ask = (
    options: {
      account?: string;
      bytes?: number;
      signal?: AbortSignal;
      codec?: typeof chat;
      record?: RequestRecord;
    } = {},
  ) => {
    const { account = "demo", bytes = 400, signal, codec = chat, record = unobservedRecord() } = options;
    const request = new Request("http://gateway/v1/chat/completions", {
      method: "POST",
      body: "x",
      signal: signal ?? null,
    });
    const inbound: Inbound = {
      request,
      method: "POST",
      path: "/v1/chat/completions",
      endpoint: CALLER_ENDPOINTS.createChatCompletion,
      query: "",
      params: {},
      requestId: `request-${Math.random()}`,
      receivedAt: clock.now(),
      remote: "127.0.0.1",
      memory: UNLIMITED_MEMORY.lease(account),
      record,
    };
    const credential: Credential = { accountId: account, keyId: "key", limits: null, capture: null };
    return large.handle(inbound, credential, new Uint8Array(bytes), codec.caller);
  };
  const available = async () => (await store.balance("demo")).available;
  /** Closes without records of the script. */
  const close = async () => {
    const closed = large.close();
    clock.advance(5_000);
    await closed;
  };
  return { clock, lines, store, meter, live, large, threads, ask, available, close };
}

/** Admits a call of a request in a thread and starts to serve it. */
async function admitted(thread: ScriptedThread, id: number): Promise<number> {
  thread.say({
    type: "call",
    call: 1,
    request: id,
    what: { name: "admit", caller: unlimitedKey("demo"), reserved: RESERVED, wantsLease: null },
  });
  const { admission } = await thread.result() as { admission: number };
  thread.say({ type: "attempt", attempt: 1, request: id, target: TARGET, accountId: "demo" });
  return admission;
}

const bufferOf = (text: string) => new TextEncoder().encode(text).buffer;

Deno.test("LargeRequests gives a thread one request to parse at a time, and is fair between accounts", async () => {
  const { threads, ask, close } = await stage();
  const answers = ["heavy", "heavy", "heavy", "light"].map((account) => ask({ account }));
  const thread = itemAt(threads, 0);
  const order: number[] = [];
  for (let nth = 0; nth < 4; nth++) {
    const ids = await stateOf("the next request", () => thread.requests, ({ length }) => length === nth + 1);
    const id = itemAt(ids, nth);
    order.push(id);
    thread.say({ type: "parsed", id });
  }
  assertEquals(order, [1, 2, 4, 3]);
  for (const id of order) await thread.answer(id);
  assertEquals(await Promise.all(answers.map(async (answer) => (await answer).text())), ["{}", "{}", "{}", "{}"]);
  await close();
});

Deno.test("LargeRequests rejects an account's request with 503 if many of that account are queued", async () => {
  const { ask, close } = await stage();
  const waiting = Array.from({ length: 129 }, () => assertRejects(() => ask(), GatewayError));
  const refusal = await assertRejects(() => ask(), GatewayError);
  assertEquals([refusal.status, refusal.details.retryAfterSeconds], [503, 5]);
  const other = assertRejects(() => ask({ account: "other" }), GatewayError, "ended");
  await close();
  await Promise.all([...waiting, other]);
});

Deno.test("LargeRequests streams a body chunk by chunk, each when the caller can receive it", async () => {
  const { threads, ask, live, close } = await stage();
  const asked = ask();
  const thread = itemAt(threads, 0);
  const { stream, write, close: closeStream, pulls } = scriptedStream();
  await thread.respond(1, stream, EVENTS);
  const reader = (await asked).body!.getReader();
  await turn();
  const before = pulls(); // the platform asks for one chunk ahead
  assertEquals([live.count, before <= 1], [1, true]);
  const read = reader.read();
  write("data: 1\n\n");
  assertEquals(new TextDecoder().decode((await read).value), "data: 1\n\n");
  await turn();
  assert(pulls() <= before + 1);
  const last = reader.read();
  closeStream();
  assertEquals([(await last).done, live.count], [true, 0]);
  await thread.end(1);
  await close();
});

Deno.test("a crash fails requests without a head and ends streams with an error event of their protocol", async () => {
  const { threads, ask, close } = await stage();
  const streamed = ask();
  const thread = itemAt(threads, 0);
  const [events, elements] = [scriptedStream(), scriptedStream()];
  await thread.respond(1, events.stream, EVENTS);
  const first = (await streamed).body!.getReader();
  thread.say({ type: "parsed", id: 1 });
  const listed = ask({ codec: content });
  await thread.respond(2, elements.stream, JSON_TYPE);
  const second = (await listed).body!.getReader();
  thread.say({ type: "parsed", id: 2 });
  const failed = ask();
  events.write('data: {"half":');
  elements.write("[{}");
  const texts = await Promise.all(
    [first, second].map(async (reader) => new TextDecoder().decode((await reader.read()).value)),
  );
  thread.events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  assertEquals((await assertRejects(() => failed, GatewayError)).code, "route_error");
  assertMatch(texts[0] + await restOf(first), /^data: \{"half":\n\ndata: \{"error":.*send it again/s);
  const list = JSON.parse(texts[1] + await restOf(second));
  assertMatch(list[1].error.message, /send it again/);
  const next = ask();
  await itemAt(threads, 1).answer(4);
  assertEquals((await next).status, 200);
  await close();
});

async function restOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += new TextDecoder().decode(read.value);
  }
  return text;
}

Deno.test("after a crash, a call that was being served is charged by a rough count", async () => {
  const { threads, ask, meter, available, lines, close } = await stage();
  const served = ask({ bytes: 4_000 });
  const thread = itemAt(threads, 0);
  await admitted(thread, 1);
  const { stream, write } = scriptedStream();
  await thread.respond(1, stream, EVENTS);
  const reader = (await served).body!.getReader();
  write("d".repeat(400));
  await reader.read();
  thread.events.onCrash("it ended");
  await restOf(reader);
  await close();
  await meter.flush();
  // 1,000 tokens in and 100 out at the model's prices.
  assertEquals(10_000_000_000n - await available(), 1_000n * 10_000n + 100n * 20_000n);
  assert(lines.some((line) => line.includes('"charge_counted_roughly"')));
});

Deno.test("after a crash before any provider served it, a call is released and nothing is charged", async () => {
  const { threads, ask, meter, available, close } = await stage();
  const failed = assertRejects(() => ask(), GatewayError);
  const thread = itemAt(threads, 0);
  await admitted(thread, 1);
  thread.say({
    type: "attempted",
    attempt: 1,
    failure: {
      kind: "upstream",
      provider: "acme",
      failure: "unavailable",
      message: "no",
      facts: { status: 503, accepted: "no" },
    },
  });
  thread.events.onCrash("it ended");
  await failed;
  await close();
  await meter.flush();
  assertEquals(await available(), 10_000_000_000n);
});

Deno.test("a charge is exact and made once, even if the thread ends right after it", async () => {
  const { threads, ask, meter, available, close } = await stage();
  const asked = ask();
  const thread = itemAt(threads, 0);
  const admission = await admitted(thread, 1);
  const usage = { freshTokens: 3, outputTokens: 4 } as never;
  const charge = {
    kind: "text",
    requestId: "r",
    keyId: "key_1",
    model: "acme/m",
    provider: "acme",
    amount: 1_234_567n,
    usage,
  } as const;
  thread.say({ type: "call", call: 9, request: 1, what: { name: "charge", admission, charge } });
  thread.events.onCrash("it ended");
  await assertRejects(() => asked, GatewayError);
  await close();
  await meter.flush();
  assertEquals(10_000_000_000n - await available(), 1_234_567n);
});

Deno.test("a disconnection is sent to the thread, or removes a queued request", async () => {
  const { threads, ask, close } = await stage();
  const [first, second] = [new AbortController(), new AbortController()];
  const running = assertRejects(() => ask({ signal: first.signal }), GatewayError);
  const queued = assertRejects(() => ask({ signal: second.signal }), GatewayError);
  second.abort();
  await queued;
  first.abort();
  await running;
  const thread = itemAt(threads, 0);
  await stateOf("the thread has both", () => thread.got.length, (count) => count === 2);
  assertEquals(thread.got.at(-1), { type: "caller-left", id: 1 });
  assertEquals(thread.requests, [1]);
  await close();
});

Deno.test("a request that no thread takes leaves no port open", async () => {
  const before = openPorts();
  const { ask, large, close } = await stage();
  const [running, queued] = [new AbortController(), new AbortController()];
  const first = assertRejects(() => ask({ signal: running.signal }), GatewayError);
  const second = assertRejects(() => ask({ signal: queued.signal }), GatewayError);
  await turn();
  queued.abort();
  await second;
  const refused = [handedRequest(), handedRequest()];
  const [early, waiting] = atLeast(refused, 2);
  await assertRejects(() => large.handOn(early.request, AbortSignal.abort()), GatewayError);
  const isolate = new AbortController();
  const left = assertRejects(() => large.handOn(waiting.request, isolate.signal), GatewayError);
  isolate.abort();
  await left;
  running.abort();
  await first;
  await close();
  await assertRejects(() => ask(), GatewayError);
  for (const { port } of refused) port.close();
  await stateOf("no port is left open", openPorts, (count) => count === before);
});

Deno.test("a thread that has ended is sent nothing more, whose ports may be closed", async () => {
  const { threads, ask, close } = await stage();
  const asked = assertRejects(() => ask(), GatewayError, "ended");
  itemAt(threads, 0).events.onCrash("it ended");
  await asked;
  await turn();
  await turn();
  assertEquals(itemAt(threads, 0).got, []);
  await close();
});

Deno.test("a stream that comes after its caller has left is ended", async () => {
  const before = openPorts();
  const { threads, ask, close } = await stage();
  const caller = new AbortController();
  const answered = assertRejects(() => ask({ signal: caller.signal }), GatewayError);
  const thread = itemAt(threads, 0);
  await thread.request(1);
  caller.abort();
  await answered;
  const reply = scriptedStream();
  await thread.respond(1, reply.stream, EVENTS);
  await stateOf("the stream is ended", reply.isCancelled, (isCancelled) => isCancelled);
  await thread.end(1);
  await close();
  await stateOf("no port is left open", openPorts, (count) => count === before);
});

Deno.test("a stream of a thread that has ended leaves no port open", async () => {
  const before = openPorts();
  const { threads, ask, close } = await stage();
  const asked = ask();
  const thread = itemAt(threads, 0);
  const reply = scriptedStream();
  await thread.respond(1, reply.stream, EVENTS);
  const text = (await asked).text();
  reply.write("data: 1\n\n");
  await stateOf("more is read", reply.pulls, (pulls) => pulls > 1);
  thread.events.onCrash("it ended");
  assertMatch(await text, /"error"/);
  await stateOf("the stream is ended", reply.isCancelled, (isCancelled) => isCancelled);
  await close();
  await stateOf("no port is left open", openPorts, (count) => count === before);
});

Deno.test("a shutdown ends the threads' streams, and waits for pending charges", async () => {
  const { threads, ask, live, large, clock } = await stage();
  const asked = ask();
  const thread = itemAt(threads, 0);
  const admission = await admitted(thread, 1);
  const { stream, close: closeStream } = scriptedStream();
  await thread.respond(1, stream, EVENTS);
  const text = (await asked).text();
  assertEquals(live.count, 1);
  large.abortForStop();
  await stateOf("the thread knows", () => thread.got.at(-1)?.type, (type) => type === "abort-for-stop");
  closeStream();
  assertEquals(await text, "");
  let isClosed = false;
  const closing = large.close().then(() => void (isClosed = true));
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(isClosed, false);
  thread.say({ type: "release", admission, tokens: 0 });
  await thread.end(1);
  await closing;
  assertEquals([thread.terminated, clock.waiting], [true, 0]);
});

Deno.test("an idle thread ends after 45 seconds", async () => {
  const { threads, ask, clock, large } = await stage();
  const asked = ask();
  await itemAt(threads, 0).answer(1);
  await asked;
  clock.advance(44_999);
  assertEquals(large.threads, 1);
  clock.advance(1);
  assertEquals([large.threads, threads[0]?.terminated], [0, true]);
});

Deno.test("a thread has one minute to parse a request, and one more to start", async () => {
  const { threads, ask, clock, close } = await stage();
  const first = ask();
  clock.advance(119_000);
  await itemAt(threads, 0).answer(1);
  assertEquals((await first).status, 200);
  const second = assertRejects(() => ask(), GatewayError, "send it again");
  clock.advance(61_000);
  await second;
  await close();
});

Deno.test("a stop waits for the record of a request, which can follow its response", async () => {
  const { threads, ask, large } = await stage();
  const observed: (string | null)[] = [];
  const record = new RequestRecord(unobservedRecord().arrival, ({ provider }) => void observed.push(provider));
  const asked = ask({ record });
  const thread = itemAt(threads, 0);
  await thread.respond(1, "{}", JSON_TYPE);
  await (await asked).text();
  record.release();
  const closed = large.close();
  await Promise.race([closed, turn()]);
  assertEquals([thread.terminated, observed], [false, []]);
  await thread.end(1, { ...record.facts(), provider: "acme" });
  await closed;
  await stateOf("the record", () => observed.length, (count) => count === 1);
  assertEquals([thread.terminated, observed], [true, ["acme"]]);
});

Deno.test("a thread is started ahead and kept while descriptors are scarce", async () => {
  const { clock, large, threads, ask, close } = await stage();
  large.keepSpare(true);
  assertEquals(large.threads, 1);
  const answer = ask();
  const thread = itemAt(threads, 0);
  await thread.answer(1);
  assertEquals(await (await answer).text(), "{}");
  clock.advance(100_000);
  assertEquals([large.threads, thread.terminated], [1, false]);
  large.keepSpare(false);
  clock.advance(45_000);
  assertEquals([large.threads, thread.terminated], [0, true]);
  await close();
});

Deno.test("LargeRequests answers 503 while no thread can start", async () => {
  let isFree = false;
  const { large, threads, ask, close } = await stage({ canStart: () => isFree });
  large.keepSpare(true);
  assertEquals(large.threads, 0);
  const error = await assertRejects(() => ask(), GatewayError, "too few free file descriptors");
  assertEquals([error.status, error.code], [503, "overloaded"]);
  isFree = true;
  const answer = ask();
  const [id] = await stateOf("a request", () => itemAt(threads, 0).requests, ({ length }) => length === 1);
  await itemAt(threads, 0).answer(Number(id));
  assertEquals((await answer).status, 200);
  await close();
});

Deno.test("LargeRequests gives no thread a request whose caller has left already", async () => {
  const { threads, ask, close } = await stage();
  await assertRejects(() => ask({ signal: AbortSignal.abort() }), GatewayError, "The caller disconnected");
  assertEquals(threads.length, 0);
  await close();
});

/** A request of an isolate, and the other end of its port. */
function handedRequest(): { readonly request: HandedRequest; readonly port: MessagePort } {
  const { port1, port2 } = new MessageChannel();
  const request: HandedRequest = {
    url: "http://gateway/v1/chat/completions",
    method: "POST",
    path: "/v1/chat/completions",
    query: "",
    headers: [],
    requestId: "request-of-an-isolate",
    receivedAt: 0,
    remote: "127.0.0.1",
    trace: null,
    credential: { accountId: "demo", keyId: "key", limits: null, capture: null },
    body: new ArrayBuffer(400),
    reply: port2,
    sentBytes: new SharedArrayBuffer(8),
  };
  return { request, port: port1 };
}

Deno.test("a request of an isolate ends with the thread that answers it, or when its own thread ends", async () => {
  const { threads, large, close } = await stage();
  const [lost, left, whole] = [handedRequest(), handedRequest(), handedRequest()];
  const isolate = new AbortController();
  const crashed = assertRejects(() => large.handOn(lost.request, new AbortController().signal), GatewayError, "ended");
  await itemAt(threads, 0).request(1);
  itemAt(threads, 0).events.onCrash("it ended");
  await crashed;
  const answered = large.handOn(left.request, isolate.signal);
  const thread = itemAt(threads, 1);
  await thread.request(2);
  isolate.abort();
  await stateOf("the thread knows", () => thread.got.at(-1)?.type, (type) => type === "caller-left");
  await thread.end(2);
  await answered;
  const done = large.handOn(whole.request, new AbortController().signal);
  await thread.end(3);
  await done;
  await assertRejects(() => large.handOn(whole.request, isolate.signal), GatewayError, "The caller disconnected");
  for (const { port } of [lost, left, whole]) port.close();
  await close();
});
