import { assertEquals } from "@std/assert";
import { responses } from "../../../../src/conversation/codecs/responses/mod.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { eventReaderOf } from "../../../support/event_reader.ts";
import { CODECS } from "../../../support/formats.ts";

const SEARCH = { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "q" } };
const FILES = { id: "fs_1", type: "file_search_call", status: "completed", queries: ["q"] };
const USAGE = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
const responseWith = (fields: JsonObject): JsonObject => ({
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "m",
  usage: USAGE,
  ...fields,
});
const billed = (num_requests: number) => ({ tool_usage: { image_gen: {}, web_search: { num_requests } } });

/** The searches of a stream, as it passes and as it is read. */
function searchesIn(last: JsonObject, items: readonly JsonObject[]): readonly unknown[] {
  const frames = [
    ...items.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })),
    { type: "response.completed", response: last },
  ].map((event) => ({ event: event.type, data: JSON.stringify(event) }));
  const watcher = CODECS.responses.passThrough.watch({});
  const reader = eventReaderOf(CODECS.responses);
  const events = frames.flatMap((frame) => {
    if (watcher.isRelevant(frame.data)) watcher.observe(frame.data);
    return reader.read(frame);
  });
  const finish = events.find((event) => event.type === "finish");
  return [watcher.usage()?.webSearches, finish?.type === "finish" ? finish.usage?.webSearches : null];
}

Deno.test("the searches that a vendor bills count, and not the items", () => {
  const items = [SEARCH, { ...SEARCH, id: "ws_2" }];
  const whole = (fields: JsonObject) => responses.upstream.readUsage(responseWith({ output: items, ...fields }));
  assertEquals(whole({})?.webSearches, 2);
  assertEquals(whole(billed(1))?.webSearches, 1);
  assertEquals(whole(billed(3))?.webSearches, 3);
  assertEquals(whole(billed(0))?.webSearches ?? 0, 0);
  assertEquals(searchesIn(responseWith({}), items), [2, 2]);
  assertEquals(searchesIn(responseWith(billed(1)), items), [1, 1]);
  assertEquals(searchesIn(responseWith(billed(3)), items), [3, 3]);
});

Deno.test("searches in files count in a stream whose last frame has no items", () => {
  const watcher = CODECS.responses.passThrough.watch({});
  for (
    const event of [
      { type: "response.output_item.done", output_index: 0, item: FILES },
      { type: "response.completed", response: responseWith({ output: [] }) },
    ]
  ) {
    const data = JSON.stringify(event);
    if (watcher.isRelevant(data)) watcher.observe(data);
  }
  assertEquals(watcher.usage()?.fileSearches, 1);
});
