import { assert, assertEquals, assertRejects } from "@std/assert";
import type { BodyReader } from "../../src/platform/http/bodies/body_reader.ts";
import { createBodyWork } from "../../src/platform/http/bodies/body_work.ts";
import { readMediaBody } from "../../src/platform/http/bodies/media_body.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { decodedBase64, EmbeddedMedia, isSentMedia } from "../../src/platform/lib/media/sent_media.ts";
import { MemoryBudget, UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import { threadStarter, ThreadUnavailable } from "../../src/platform/workers/worker_thread.ts";
import { threadModule } from "../../src/platform/lib/process/program_files.ts";

const CONTENT = new Uint8Array(3_000).map((_, index) => index * 7);
const BASE64 = CONTENT.toBase64();
const URI = `data:image/png;base64,${BASE64}`;
const LIMITS = { capBytes: 10_000_000, maxValues: 20_000 };

function requestOf(body: string | Uint8Array<ArrayBuffer>, init: RequestInit = {}): Request {
  const headers = { "content-type": "application/json" };
  return new Request("http://gateway/", { method: "POST", headers, body, ...init });
}

const NO_READER: BodyReader = { read: () => Promise.reject(new Error("read in a thread")) };

/** Reads a body in a thread, or without one if there is none. */
function read(
  body: string | Uint8Array<ArrayBuffer>,
  reader: BodyReader | null,
  options: Partial<Parameters<typeof readMediaBody>[1] & { readonly request: Request }> = {},
) {
  const { request = requestOf(body) } = options;
  return readMediaBody({ request, memory: UNLIMITED_MEMORY.lease("demo") }, {
    limits: LIMITS,
    places: { members: ["images", "mask"], isBase64: true },
    thread: { reader: reader ?? NO_READER, aboveBytes: reader === null ? Infinity : 0 },
    accountId: "demo",
    ...options,
  });
}

/** A body with all its media decoded. */
function decoded(value: unknown): unknown {
  if (isSentMedia(value)) return decodedBase64(value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, decoded(each)]));
}

Deno.test("a body read in a thread is the same as without one, with its media decoded", async () => {
  const work = createBodyWork({ clock: systemClock, log: silentLog });
  try {
    const bodies = [
      { images: [URI, BASE64, "https://host/a.png", "short"], mask: { image_url: URI }, prompt: "a Ω fox" },
      { images: [{ image_url: { url: URI } }, { image_url: `${URI}!` }, [[URI]]], mask: `data:,${"x".repeat(2_000)}` },
      { images: "x".repeat(2_000), mask: null, other: [1, true, null, { a: {} }] },
      { images: [URI], mask: { image_url: BASE64 }, other: Array(2_000).fill({ a: "b" }) },
    ];
    for (const body of bodies) {
      const text = `\ufeff${JSON.stringify(body)}`;
      const [own, other] = [await read(text, null), await read(text, work, { isHashed: true })];
      assertEquals(decoded(other.body), decoded(own.body));
      assertEquals(other.bytes, own.bytes);
      const digest = await crypto.subtle.digest("SHA-256", own.bytes);
      assertEquals([own.hash, other.hash], [null, new Uint8Array(digest).toHex()]);
    }
    const { body } = await read(JSON.stringify({ images: [URI], mask: { image_url: BASE64 } }), work);
    const media = new EmbeddedMedia(CONTENT, true, URI.length);
    assertEquals(body, { images: [media], mask: { image_url: new EmbeddedMedia(CONTENT, true, BASE64.length) } });
  } finally {
    work.close();
  }
});

Deno.test("a thread decodes media of the named members only, and base64 only where it is expected", async () => {
  const work = createBodyWork({ clock: systemClock, log: silentLog });
  try {
    const named = { prompt: URI, user: BASE64, images: [BASE64], ["__proto__"]: { images: URI } };
    const text = JSON.stringify(named);
    assertEquals((await read(text, work, { places: { members: ["images"], isBase64: false } })).body, JSON.parse(text));
    const hidden = `{"images":{"__proto__":{"url":"${URI}"},"constructor":{"prototype":"${URI}"}}}`;
    const { body } = await read(hidden, work);
    assert(body.images instanceof Object);
    assertEquals(Object.getPrototypeOf(body.images), Object.prototype);
    assertEquals(decoded(body), decoded(JSON.parse(hidden)));
    const many = JSON.stringify({ images: Array(70).fill(URI) });
    const { images } = (await read(many, work)).body;
    assertEquals(Array.isArray(images) && images.filter((each) => each instanceof EmbeddedMedia).length, 64);
  } finally {
    work.close();
  }
});

Deno.test("a thread refuses a body as this thread does", async () => {
  const work = createBodyWork({ clock: systemClock, log: silentLog });
  const refusalOf = async (reader: BodyReader | null, body: string | Uint8Array<ArrayBuffer>) => {
    const { code, status, message, details } = await assertRejects(() => read(body, reader), GatewayError);
    const { cause: _, ...others } = details;
    return { code, status, message, others };
  };
  try {
    const bodies = [
      "",
      "[]",
      `{"images":"${URI}",\n"prompt":canary}`,
      `{"images":"${URI}","images":1}`,
      `{"mask":{"a":1,"a":2}}`,
      "[".repeat(300) + "]".repeat(300),
      `{"a":${"[".repeat(300)}${"]".repeat(300)}}`,
      `{"a":[${"1,".repeat(300_000)}1]}`,
      new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    ];
    for (const body of bodies) assertEquals(await refusalOf(work, body), await refusalOf(null, body));
    const form = requestOf("{}", { headers: { "content-type": "text/plain" } });
    assertEquals((await assertRejects(() => read("", work, { request: form }), GatewayError)).status, 415);
  } finally {
    work.close();
  }
});

Deno.test("a body that is not large is read without a thread", async () => {
  const reader = NO_READER;
  const text = JSON.stringify({ images: [URI] });
  const { body } = await read(text, reader, { thread: { reader, aboveBytes: text.length } });
  assertEquals(body, { images: [URI] });
  await assertRejects(
    () => read(text, reader, { thread: { reader, aboveBytes: text.length - 1 } }),
    Error,
    "read in a thread",
  );
});

Deno.test("the objects of a body that a thread read count as memory of its request", async () => {
  const work = createBodyWork({ clock: systemClock, log: silentLog });
  const lease = new MemoryBudget(10_000_000).lease("demo");
  try {
    const body = JSON.stringify({ images: Array(5_000).fill({}) });
    await readMediaBody({ request: requestOf(body), memory: lease }, {
      limits: LIMITS,
      places: { members: [], isBase64: false },
      thread: { reader: work, aboveBytes: 0 },
      accountId: "demo",
    });
    assertEquals(lease.held, body.length * 4 + 5_002 * 96);
  } finally {
    work.close();
    lease.end();
  }
});

Deno.test("a body whose caller has left, or that no thread can read, is refused", async () => {
  const idle = createBodyWork({ clock: systemClock, log: silentLog });
  const left = new AbortController();
  const request = requestOf("{}", { signal: left.signal });
  const reader: BodyReader = {
    read(job, caller) {
      left.abort();
      return idle.read(job, caller);
    },
  };
  const gone = await assertRejects(() => read("", reader, { request }), GatewayError);
  assertEquals([gone.code, gone.message], ["route_error", "The caller disconnected"]);
  idle.close();
  const full = createBodyWork({
    clock: systemClock,
    log: silentLog,
    start: () => {
      throw new ThreadUnavailable();
    },
  });
  const refused = await assertRejects(() => read("{}", full), GatewayError);
  assertEquals([refused.code, refused.details.retryAfterSeconds], ["overloaded", 5]);
  full.close();
});

Deno.test("a body whose thread ends fails alone, and the next one is read in another thread", async () => {
  let started = 0;
  const work = createBodyWork({
    clock: systemClock,
    log: silentLog,
    start(events) {
      if (++started > 1) {
        const entry = threadModule("platform/http/bodies/body_entry");
        return threadStarter({ kind: "bodies", entry, heapMegabytes: 256 })(events);
      }
      return { post: () => events.onCrash("the thread exited"), terminate() {}, setReferenced() {} };
    },
  });
  try {
    const failed = await assertRejects(() => read("{}", work), GatewayError);
    assertEquals([failed.code, failed.message], ["internal_error", "Cannot read the body: the job failed"]);
    assertEquals((await read('{"prompt":"next"}', work)).body, { prompt: "next" });
  } finally {
    work.close();
  }
});
