import { assertEquals, assertMatch } from "@std/assert";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { itemAt } from "../../support/items.ts";
import { stateOf } from "../../support/patience.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";

const gateway = await startVideoGateway({ limits: { video_event_streams: 2 } });
const { call, create, until } = gateway;

/** Opens an event stream. */
function open(id: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  const authorization = `Bearer ${gateway.key}`;
  return fetch(`${gateway.address}/v1/videos/${id}/events`, { method, headers: { authorization, ...headers } });
}

/** Reads a stream to its end. */
async function eventsOf(response: Response): Promise<EventSourceMessage[]> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) parser.feed(text);
  return events;
}

Deno.test("GET /v1/videos/{id}/events sends the states of a task as server-sent events and ends with the last", async () => {
  const id = await create({ prompt: "Running [[queue 0]] [[run 2000]]", metadata: { order: "7" } });
  const response = await open(id);
  assertEquals([response.status, response.headers.get("content-type")], [200, "text/event-stream"]);
  const events = await eventsOf(response);
  const [first, last] = [itemAt(events, 0), itemAt(events, events.length - 1)];
  assertEquals([first.event, JSON.parse(first.data).status], ["video.generation.pending", "pending"]);
  assertEquals(last.event, "video.generation.completed");
  const task = JSON.parse(last.data);
  assertEquals([task.id, task.status, task.metadata, task.usage.cost], [id, "completed", { order: "7" }, 0.5]);
  assertEquals((await fetch(task.mirror_urls[0])).status, 200);
  for (const { id } of events) assertMatch(id!, /^[\w-]{16}$/);

  const again = await open(id, { "last-event-id": first.id! });
  assertEquals((await eventsOf(again)).map(({ id }) => id), [last.id]);
  const done = await open(id, { "last-event-id": last.id! });
  assertEquals([done.status, await done.text()], [204, ""]);
});

Deno.test("events of an unknown, malformed or foreign task are 404 in identical bytes", async () => {
  const id = await create();
  const foreign = { authorization: `Bearer ${gateway.otherKey}` };
  const answers = await Promise.all([open("abc"), open(crypto.randomUUID()), open(id, foreign)]);
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  assertEquals(answers.map(({ status }) => status), [404, 404, 404]);
  assertEquals(new Set([...texts, (await call("GET", "/v1/videos/abc")).text]).size, 1);
  await until(id, "completed");
});

Deno.test("a stream above the maximum is 429 with Retry-After, and a reader that disconnects frees a place", async () => {
  const id = await create({ prompt: "Later [[queue 600000]]" });
  const streams = [await open(id), await open(id)];
  const refused = await open(id);
  assertEquals([refused.status, refused.headers.get("retry-after")], [429, "5"]);
  assertEquals((await refused.json()).error.code, "rate_limited");
  const head = await open(id, {}, "HEAD");
  assertEquals(head.status, 429);
  await itemAt(streams, 0).body!.cancel();
  // The gateway learns of it later.
  const opens = async () => {
    const next = await open(id);
    await next.body!.cancel();
    return next.ok;
  };
  await stateOf("another stream is opened", opens, (isOpened) => isOpened);
  assertEquals((await call("DELETE", `/v1/videos/${id}`)).json.status, "cancelled");
  const events = await eventsOf(itemAt(streams, 1));
  assertEquals(events[events.length - 1]?.event, "video.generation.cancelled");
});

Deno.test("HEAD of the events does not open a stream", async () => {
  const id = await create({ prompt: "Later [[queue 600000]]" });
  for (let n = 0; n < 4; n++) {
    const { status, headers } = await open(id, {}, "HEAD");
    assertEquals([status, headers.get("content-type")], [200, "text/event-stream"]);
  }
});

Deno.test("only the opening of a stream counts against the polling limit", async () => {
  const limited = await startVideoGateway({ limits: { video_polling: { requests: 1, per: 3600, burst: 2 } } });
  try {
    const id = await limited.create({ prompt: "Running [[queue 0]] [[run 200]]" });
    const headers = { authorization: `Bearer ${limited.key}` };
    const response = await fetch(`${limited.address}/v1/videos/${id}/events`, { headers });
    assertMatch(response.headers.get("ratelimit")!, /r=1;/);
    assertEquals((await eventsOf(response)).at(-1)?.event, "video.generation.completed");
    assertEquals((await limited.call("GET", `/v1/videos/${id}`)).status, 200);
    const refused = await limited.call("GET", `/v1/videos/${id}/events`);
    assertEquals([refused.status, refused.json.error.code], [429, "rate_limited"]);
  } finally {
    await limited.stop();
  }
});

Deno.test({
  name: "a gateway that stops ends open event streams immediately",
  async fn() {
    const id = await create({ prompt: "Later [[queue 600000]]" });
    const response = await open(id);
    const [events] = await Promise.all([eventsOf(response), gateway.stop()]);
    assertEquals(events.at(-1)?.event, "video.generation.pending");
  },
  sanitizeResources: false,
  sanitizeOps: false,
});
