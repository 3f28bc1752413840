import { assert, assertEquals } from "@std/assert";
import { CALLER_ENDPOINTS } from "../../src/platform/endpoints/callers.ts";
import { type Endpoint, pathsOf } from "../../src/platform/endpoints/endpoint.ts";
import type { Inbound, Route } from "../../src/platform/http/request/inbound.ts";
import { readJsonObject } from "../../src/platform/http/bodies/json_body.ts";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import { withLargeBodies } from "../../src/threads/serving/large_route.ts";
import { renderDefaultError as renderError } from "../../src/protocols/default/error.ts";

const limits = { capBytes: 10_000_000 };

/** Where a body is handled, and the number of its top-level members if it is on the main thread. */
async function placeOf(json: string): Promise<string> {
  const path = "/v1/chat/completions";
  const handler = async (inbound: Inbound) => {
    const { body, bytes } = await readJsonObject(inbound, limits);
    return new Response(`main thread: ${Object.keys(body)}, ${bytes.length === json.length}`);
  };
  const endpoint = Object.values<Endpoint>(CALLER_ENDPOINTS).find((each) => pathsOf(each).includes(path));
  assert(endpoint !== undefined, path);
  const route: Route = { ...endpoint, path, handler, renderError };
  const { handler: answer } = withLargeBodies(route, {
    large: { handle: (_, __, body) => Promise.resolve(new Response(`thread: ${body.length === json.length}`)) },
    authenticate: () => ({ accountId: "demo", keyId: "key", limits: null, capture: null }),
    limits,
    largeBytes: 1_000_000,
  });
  const request = new Request(`http://h${path}`, {
    method: "POST",
    body: json,
    headers: { "content-type": "application/json" },
  });
  const response = await answer({
    request,
    method: "POST",
    path,
    endpoint: route,
    query: "",
    params: {},
    requestId: "req_1",
    receivedAt: 0,
    remote: "127.0.0.1",
    memory: UNLIMITED_MEMORY.lease(),
    record: unobservedRecord(),
  });
  return await response.text();
}

Deno.test("a body is handled on the main thread unless it has many bytes or many values", async () => {
  const messages = (count: number, content: string) =>
    `{"messages":[${new Array(count).fill(`{"role":"user","content":"${content}"}`).join(",")}]}`;
  assertEquals(await placeOf(messages(1, "hi")), "main thread: messages, true");
  assertEquals(await placeOf(messages(400, "x".repeat(2_000))), "main thread: messages, true");
  assertEquals(await placeOf(messages(600, "x".repeat(2_000))), "thread: true");
  assertEquals(await placeOf(messages(15_000, "")), "thread: true");
});
