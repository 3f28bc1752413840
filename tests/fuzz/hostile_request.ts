import type { SeededRandom } from "../e2e/money_walk/random.ts";

/** How a client sends a request, and when it leaves. */
export interface HostileRequest {
  /** The bytes, in the parts in which they are written. Every character is one byte. */
  readonly parts: readonly string[];
  /** Milliseconds between two parts. */
  readonly pauseMs: number;
  /** Whether the client closes its side after the last part. */
  readonly closesWriting: boolean;
  /** Milliseconds after which the client leaves, whatever came; null if it waits for the response. */
  readonly leavesAfterMs: number | null;
  /** Bytes that the client reads at a time. */
  readonly readBytes: number;
}

/** An address of the gateway. */
export interface FuzzedEndpoint {
  readonly method: string;
  readonly path: string;
}

/** Who sends the requests. */
export interface FuzzedCaller {
  readonly key: string;
  readonly adminKey: string;
}

const MAX_PARTS = 400;

/** Makes a request for an endpoint that differs from a valid one in its head, framing, size of parts or body. */
export function hostileRequest(
  random: SeededRandom,
  endpoint: FuzzedEndpoint,
  caller: FuzzedCaller,
): HostileRequest {
  const path = pathOf(random, endpoint.path);
  const method = random.chance(0.9) ? endpoint.method : random.pick(["HEAD", "OPTIONS", "TRACE", "BREW", "get", ""]);
  const body = method === "GET" && random.chance(0.9) ? "" : bodyOf(random);
  const { fields, framed } = framingOf(random, body);
  const head = [
    `${method} ${path} ${random.chance(0.97) ? "HTTP/1.1" : random.pick(["HTTP/1.0", "HTTP/2.0", "", "X"])}`,
  ]
    .concat(fieldsOf(random, caller), fields);
  const end = random.chance(0.97) ? "\r\n\r\n" : random.pick(["\n\n", "\r\n", "\r\n \r\n\r\n", "\r\r\n\n"]);
  const text = head.join(random.chance(0.98) ? "\r\n" : "\n") + end + framed;
  const size = random.pick([1, 3, 17, 200, 4_096, 1_000_000]);
  return {
    parts: partsOf(text, Math.max(size, Math.ceil(text.length / MAX_PARTS))),
    pauseMs: random.chance(0.8) ? 0 : random.between(0, 3),
    closesWriting: random.chance(0.1),
    leavesAfterMs: random.chance(0.3) ? random.between(0, 60) : null,
    readBytes: random.chance(0.2) ? random.between(1, 64) : 65_536,
  };
}

function partsOf(text: string, size: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size));
  return parts;
}

function pathOf(random: SeededRandom, template: string): string {
  const path = template.replace(/\{[^}]+\}/g, () => random.pick(IDS));
  if (random.chance(0.8)) return path;
  return random.pick([
    `${path}/`,
    `/${path}`,
    `${path}?a=%zz&a[]=1`,
    `${path}/../..`,
    `http://[::1${path}`,
    "*",
    `${path}#x`,
  ]);
}

const IDS = [
  "fuzz/text",
  "x",
  "%00",
  "..",
  "a%2Fb",
  "01a1fdeb-a9eb-7000-8039-912c18bfb000",
  "%F0%9F%98%80",
  "m%3Aa",
  "1".repeat(300),
];

function fieldsOf(random: SeededRandom, { key, adminKey }: FuzzedCaller): string[] {
  const fields = random.chance(0.97)
    ? ["host: gateway"]
    : random.pick([[], ["host: a", "host: b"], ["host:"], ["host: \x01"]]);
  const secret = random.pick([key, key, key, adminKey]);
  fields.push(random.pick([`authorization: Bearer ${secret}`, `x-api-key: ${secret}`, `x-goog-api-key: ${secret}`]));
  fields.push("msg-version: 2023-06-01");
  if (random.chance(0.9)) fields.push("content-type: application/json");
  if (random.chance(0.3)) fields.push(random.pick(ODD_FIELDS));
  if (random.chance(0.5)) fields.push("connection: close");
  return fields;
}

const ODD_FIELDS = [
  "expect: 100-continue",
  "content-encoding: gzip",
  "transfer-encoding: gzip, chunked",
  "upgrade: websocket",
  "idempotency-key: fuzz",
  `idempotency-key: ${"k".repeat(400)}`,
  "x-service-dry-run: true",
  "x-service-resumable: true",
  "x-service-provider-type: nobody",
  "range: bytes=5-1,-0",
  "last-event-id: 99999999999999999999",
  "content-type: multipart/form-data; boundary=b",
  "accept: text/event-stream",
  "traceparent: 00-zz-zz-01",
  `x-long: ${"l".repeat(9_000)}`,
  "bad name: x",
  "x-nul: a\x00b",
  " folded: x",
];

function framingOf(random: SeededRandom, body: string): { fields: string[]; framed: string } {
  const kind = random.next();
  if (body === "" && kind < 0.7) return { fields: [], framed: "" };
  if (kind < 0.6) return { fields: [`content-length: ${body.length}`], framed: body };
  if (kind < 0.8) {
    const size = random.pick([1, 2, 7, 1_000, 100_000]);
    const bounded = Math.max(size, Math.ceil(body.length / 2_000));
    return {
      fields: ["transfer-encoding: chunked"],
      framed: chunked(body, bounded) + (random.chance(0.9) ? "0\r\n\r\n" : ""),
    };
  }
  return random.pick([
    { fields: [`content-length: ${body.length + 9}`], framed: body },
    { fields: ["content-length: -1"], framed: body },
    { fields: ["content-length: 5", "content-length: 6"], framed: body },
    { fields: ["content-length: 99999999999999999999"], framed: body },
    { fields: ["transfer-encoding: chunked", "content-length: 3"], framed: chunked(body, 100) },
    { fields: ["transfer-encoding: chunked"], framed: "zz\r\nabc\r\n" },
    { fields: ["transfer-encoding: chunked"], framed: "FFFFFFFFFFFFFFFF\r\nabc" },
    { fields: ["transfer-encoding: identity"], framed: body },
  ]);
}

function chunked(body: string, size: number): string {
  return partsOf(body, size).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");
}

function bodyOf(random: SeededRandom): string {
  const kind = random.next();
  if (kind < 0.5) return JSON.stringify(requestBody(random));
  if (kind < 0.6) return JSON.stringify(requestBody(random)).slice(0, random.between(0, 200));
  if (kind < 0.7) return "[".repeat(random.between(1, 20_000));
  if (kind < 0.75) return `{"model":"fuzz/text","model":"other"}`;
  if (kind < 0.8) return multipart(random);
  if (kind < 0.9) return " ".repeat(random.between(0, 50_000));
  return Array.from({ length: random.between(0, 2_000) }, () => String.fromCharCode(random.between(0, 255))).join("");
}

/** Fields of every endpoint, some with values of another type. */
function requestBody(random: SeededRandom): Record<string, unknown> {
  const text = `hi [[words ${random.between(1, 40)}]] [[gap ${random.between(0, 2)}]] ${
    random.pick(["", "[[cut 2]]", "[[html]]"])
  }`;
  const odd = () => random.pick<unknown>([null, true, -1, 1e400, "", "\ud800", [], {}, [[]], "x".repeat(5_000), 1e15]);
  const body: Record<string, unknown> = {
    model: "fuzz/text",
    messages: [{ role: "user", content: text }],
    contents: [{ role: "user", parts: [{ text }] }],
    max_tokens: 50,
    stream: random.chance(0.5),
  };
  const fields = [
    "input",
    "prompt",
    "n",
    "tools",
    "size",
    "quality",
    "ttl",
    "stop",
    "messages",
    "contents",
    "model",
    "query",
    "documents",
    "name",
    "amount",
    "callback_url",
    "frame_images",
  ];
  for (let count = random.between(0, 4); count > 0; count--) body[random.pick(fields)] = odd();
  return body;
}

function multipart(random: SeededRandom): string {
  const field = (name: string, value: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const parts = Array.from(
    { length: random.between(0, 40) },
    () => field(random.pick(["model", "image", "prompt", "file", "mask[]"]), "x"),
  );
  return parts.join("") + (random.chance(0.8) ? "--b--\r\n" : "");
}
