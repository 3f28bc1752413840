import { assert, assertEquals, assertRejects } from "@std/assert";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { jsonLog, silentLog } from "../../src/platform/lib/basics/log.ts";
import { createHttpClient } from "../../src/platform/net/http1/client.ts";
import { eraseReplays } from "../../src/services/replays/erase_replays.ts";
import { StreamPlaces, type StreamPlacesParts } from "../../src/services/replays/stream_places.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";

const OWN = "http://127.0.0.1:1";
const ID = "req_1";

interface SeenRequest {
  readonly url: string;
  readonly headers: Headers;
}

/** A store with the record of a stream that another gateway keeps, and what that gateway answers. */
async function withPeer(
  answer: (request: Request) => Response | Promise<Response>,
  test: (stage: {
    readonly places: StreamPlaces;
    readonly parts: StreamPlacesParts;
    readonly seen: readonly SeenRequest[];
    readonly clock: ManualClock;
    stopPeer(): Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  const seen: SeenRequest[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    seen.push({ url: request.url, headers: new Headers(request.headers) });
    return answer(request);
  });
  const store = await openKvStore({ path: ":memory:", clock: systemClock, log: silentLog });
  const clock = new ManualClock();
  const client = createHttpClient({ clock: systemClock });
  const parts = { store, clock, log: silentLog, client, ownUrl: () => OWN };
  const peer = new StreamPlaces({ ...parts, ownUrl: () => `http://127.0.0.1:${server.addr.port}` });
  await peer.record("demo", ID);
  try {
    await test({ places: new StreamPlaces(parts), parts, seen, clock, stopPeer: () => server.shutdown() });
  } finally {
    client.close();
    await server.shutdown();
    await store.close();
  }
}

const inbound = (fields: Record<string, string> = {}) => ({
  request: new Request("http://gate.example.com/", { headers: { authorization: "Bearer sk-1", ...fields } }),
  remote: "192.0.2.7",
});

const events = () => new Response("data: 1\nid: 1\n\n", { headers: { "content-type": "text/event-stream" } });

Deno.test("a stream of another gateway is read there, with the caller's key", async () => {
  await withPeer(events, async ({ places, seen }) => {
    const response = await places.read(inbound({ "last-event-id": "4", cookie: "c" }), "demo", ID);
    assertEquals(response?.headers.get("content-type"), "text/event-stream");
    assertEquals(await response?.text(), "data: 1\nid: 1\n\n");
    const { url, headers } = itemAt(seen, 0);
    assertEquals(new URL(url).pathname, `/v1/requests/${ID}/stream`);
    const names = ["authorization", "last-event-id", "x-forwarded-for", "x-service-forwarded", "cookie"];
    assertEquals(names.map((name) => headers.get(name)), ["Bearer sk-1", "4", "192.0.2.7", "1", null]);
  });
});

Deno.test("a stream of nobody, of another account or of this gateway, and a forwarded request, go nowhere", async () => {
  await withPeer(events, async ({ places, parts, seen }) => {
    assertEquals(await places.read(inbound(), "demo", "req_2"), null);
    assertEquals(await places.read(inbound(), "other", ID), null);
    assertEquals(await places.read(inbound({ "x-service-forwarded": "1" }), "demo", ID), null);
    await places.record("demo", "req_own");
    assertEquals(await places.read(inbound(), "demo", "req_own"), null);
    await new StreamPlaces({ ...parts, ownUrl: () => null }).record("demo", "req_3");
    assertEquals(await places.read(inbound(), "demo", "req_3"), null);
    await eraseReplays(parts.store as Parameters<typeof eraseReplays>[0], "demo");
    assertEquals(await places.read(inbound(), "demo", ID), null);
    assertEquals(seen.length, 0);
  });
});

Deno.test("answers of the other gateway are passed on, and one that has dropped the stream is as none", async () => {
  const answers: Response[] = [
    new Response(null, { status: 204 }),
    Response.json({ error: { code: 400 } }, { status: 400 }),
    Response.json({}, { status: 404 }),
  ];
  await withPeer(() => answers.shift()!, async ({ places }) => {
    assertEquals((await places.read(inbound(), "demo", ID))?.status, 204);
    const bad = await places.read(inbound(), "demo", ID);
    assertEquals([bad?.status, await bad?.json()], [400, { error: { code: 400 } }]);
    assertEquals(await places.read(inbound(), "demo", ID), null);
  });
});

Deno.test("a gateway that cannot be reached, or is silent, is 503", async () => {
  const silent = Promise.withResolvers<Response>();
  const arrived = Promise.withResolvers<void>();
  const answer = () => {
    arrived.resolve();
    return silent.promise;
  };
  await withPeer(answer, async ({ places, clock, stopPeer }) => {
    const reading = assertRejects(() => places.read(inbound(), "demo", ID), GatewayError);
    await arrived.promise;
    await clock.advance(10_000);
    const error = await reading;
    assertEquals([error.code, error.details.retryAfterSeconds], ["storage_unavailable", 5]);
    silent.resolve(events());
    await stopPeer();
    await assertRejects(() => places.read(inbound(), "demo", ID), GatewayError, "cannot be reached");
  });
});

Deno.test("a record that cannot be stored is logged, and the stream goes on", async () => {
  const lines: string[] = [];
  const store = { get: () => Promise.resolve([null]), commit: () => Promise.reject(new Error("full")) };
  const log = jsonLog("debug", (line) => void lines.push(line));
  const client = { send: () => Promise.reject(new Error("unused")) };
  await new StreamPlaces({ store, clock: new ManualClock(), log, client, ownUrl: () => OWN }).record("demo", ID);
  assert(lines.some((line) => line.includes("stream_place_unrecorded")));
});
