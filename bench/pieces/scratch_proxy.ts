/**
 * A proxy of some of the gateway's own parts, to see what each costs. Arguments: the upstream's port, and the parts.
 * `fetch`: `Deno.serve` and `fetch`, whole bodies. `client`: `fetch` replaced by the gateway's HTTP client. `edits`:
 * in addition what every passed request needs: a key's hash, a request id, the JSON reader, a spliced model name, and
 * the header fields of both directions. Of streams, `copied`: `fetch`, whose body the runtime copies without
 * JavaScript. `read`: chunks that JavaScript reads and writes. `relayed`: the same with the gateway's HTTP client. It
 * prints its address when it listens.
 */
import { hashOfKey } from "../../src/money/billing/keys/api_key.ts";
import { addReportedHeaders, requestHeadersOf } from "../../src/platform/http/request/headers.ts";
import { jsonObjectOf } from "../../src/platform/http/bodies/json_body.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { newRequestId } from "../../src/platform/lib/basics/ids.ts";
import type { ByteParts } from "../../src/platform/lib/bytes/byte_parts.ts";
import { spliceJson } from "../../src/platform/lib/json/json.ts";
import { createHttpClient } from "../../src/platform/net/http1/client.ts";
import { headerLinesOf } from "../../src/platform/net/http1/header_lines.ts";
import type { HttpResponse } from "../../src/platform/net/http1/response.ts";
import { argument } from "../argument.ts";

type Parts = "fetch" | "client" | "edits" | "copied" | "read" | "relayed";

const upstreamPort = Number(argument(0, "the upstream's port"));
const parts = argument(1, "the parts") as Parts;
const PATH = "/json/chat/completions";
const STREAM_PATH = "/paced/chat/completions";
const UPSTREAM_FIELDS = { "content-type": "application/json", "authorization": "Bearer upstream-key" };
/** Fields that an official client sends, so that looking them up costs what it costs in the gateway. */
const FORWARDED = ["user-agent", "x-stainless-lang", "x-stainless-package-version", "openai-beta"];
const RETURNED = ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "openai-processing-ms"];

const client = createHttpClient({ clock: systemClock });
const origin = { tls: false, hostname: "127.0.0.1", port: upstreamPort };
const keys = new Set([hashOfKey("bench-caller-key-0123456789")]);

const HANDLERS: Readonly<Record<Parts, (request: Request) => Promise<Response>>> = {
  async fetch(request) {
    const body = new Uint8Array(await request.arrayBuffer());
    const upstream = await fetch(`http://127.0.0.1:${upstreamPort}${PATH}`, {
      method: "POST",
      headers: UPSTREAM_FIELDS,
      body,
    });
    return json(new Uint8Array(await upstream.arrayBuffer()), {});
  },
  async client(request) {
    const body = new Uint8Array(await request.arrayBuffer());
    return json(await wholeOf(await send(PATH, body, {})), {});
  },
  async edits(request) {
    const key = request.headers.get("authorization")?.slice("Bearer ".length) ?? "";
    if (!keys.has(hashOfKey(key))) return new Response(null, { status: 401 });
    const requestId = newRequestId(Date.now());
    const { bytes, scan } = jsonObjectOf(new Uint8Array(await request.arrayBuffer()));
    const sent = spliceJson(bytes, scan, { set: { model: "canned-1" } });
    const response = await send(PATH, sent, requestHeadersOf((name) => request.headers.get(name), FORWARDED));
    const whole = await wholeOf(response);
    const headers: Record<string, string> = { "x-service-request-id": requestId };
    addReportedHeaders(headers, (name) => response.head.get(name), RETURNED);
    return json(whole, headers);
  },
  async copied(request) {
    return events((await fetchStream(request)).body!);
  },
  async read(request) {
    const reader = (await fetchStream(request)).body!.getReader();
    return events(streamOf(async () => (await reader.read()).value ?? null));
  },
  async relayed(request) {
    const response = await send(STREAM_PATH, new Uint8Array(await request.arrayBuffer()), {});
    return events(streamOf(() => response.read()));
  },
};

function fetchStream(request: Request): Promise<Response> {
  const target = `http://127.0.0.1:${upstreamPort}${STREAM_PATH}`;
  return fetch(target, { method: "POST", headers: UPSTREAM_FIELDS, body: request.body });
}

/** @param read Resolves with the next chunk; null after the last one. */
function streamOf(read: () => Promise<Uint8Array<ArrayBuffer> | null>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const chunk = await read();
      if (chunk === null) controller.close();
      else controller.enqueue(chunk);
    },
  });
}

function events(body: ReadableStream<Uint8Array<ArrayBuffer>>): Response {
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function send(
  path: string,
  body: Uint8Array | ByteParts,
  fields: Readonly<Record<string, string>>,
): Promise<HttpResponse> {
  const headerLines = headerLinesOf({ ...UPSTREAM_FIELDS, ...fields });
  return client.send(origin, { method: "POST", path, headerLines, body });
}

async function wholeOf(response: HttpResponse): Promise<Uint8Array<ArrayBuffer>> {
  const first = await response.read() ?? new Uint8Array();
  const rest: Uint8Array<ArrayBuffer>[] = [];
  for (let bytes; (bytes = await response.read()) !== null;) rest.push(bytes);
  return rest.length === 0 ? first : new Uint8Array(await new Blob([first, ...rest]).arrayBuffer());
}

function json(body: Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>): Response {
  return new Response(body, { headers: { "content-type": "application/json", ...headers } });
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
}, HANDLERS[parts]);
