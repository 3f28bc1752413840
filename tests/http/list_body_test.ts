import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import type { BodyReader } from "../../src/platform/http/bodies/body_reader.ts";
import { createBodyWork } from "../../src/platform/http/bodies/body_work.ts";
import { readListBody } from "../../src/platform/http/bodies/list_body.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";

const LISTS = [["requests"], ["batch", "in", "requests"]];
const NO_READER: BodyReader = { read: () => Promise.reject(new Error("read in a thread")) };

function requestOf(body: string): Request {
  return new Request("http://gateway/", { method: "POST", headers: { "content-type": "application/json" }, body });
}

/** Reads a body in a thread, or without one if there is none. */
async function read(body: string, reader: BodyReader | null) {
  const { body: rest, list } = await readListBody(
    { request: requestOf(body), memory: UNLIMITED_MEMORY.lease("demo") },
    {
      limits: { capBytes: 10_000_000, maxValues: 350_000 },
      lists: LISTS,
      thread: { reader: reader ?? NO_READER, aboveBytes: reader === null ? Infinity : 0 },
      accountId: "demo",
    },
  );
  return { rest, list: list && [...list].map((each) => new TextDecoder().decode(each).trim()) };
}

/** `count` members with names that nothing else has. */
function newNames(count: number): string {
  return Array.from({ length: count }, (_, nth) => `"name-${nth}":1`).join();
}

Deno.test("readListBody() takes a list out, in a thread as without one", async () => {
  const work = createBodyWork({ clock: systemClock, log: silentLog });
  try {
    const json = fc.jsonValue({ maxDepth: 3 });
    const name = fc.constantFrom("requests", "batch", "other");
    const lists = fc.array(json, { maxLength: 4 });
    const bodies = fc.oneof(
      fc.record({ requests: lists, other: json }),
      fc.record({ batch: fc.record({ in: fc.record({ requests: lists }) }), other: json }),
      fc.dictionary(name, json),
    );
    await fc.assert(
      fc.asyncProperty(bodies, fc.constantFrom(0, 2), async (body, indent) => {
        const text = `\ufeff${JSON.stringify(body, null, indent)}`;
        const own = await read(text, null);
        assertEquals(await read(text, work), own);
        const parsed = JSON.parse(JSON.stringify(body));
        const list = Array.isArray(parsed.requests) ? parsed.requests : parsed.batch?.in?.requests;
        assertEquals(own.list?.map((each) => JSON.parse(each)) ?? null, Array.isArray(list) ? [...list] : null);
        if (Array.isArray(list)) list.length = 0;
        assertEquals(own.rest, parsed);
      }),
      { numRuns: 60 },
    );
    for (
      const text of ['{"requests":[{"a":1,"a":2}]}', '{"requests":[1,}', '{"requests":[1]', "[]", '{"requests":[\xff']
    ) {
      const [own, other] = [await assertRejects(() => read(text, null)), await assertRejects(() => read(text, work))];
      assert(own instanceof GatewayError && other instanceof GatewayError);
      assertEquals([other.code, other.message], [own.code, own.message]);
    }
  } finally {
    work.close();
  }
});

Deno.test("readListBody() reads a body of many values, or of many names, in the thread", async () => {
  let jobs = 0;
  const counting: BodyReader = {
    read: () => {
      jobs++;
      return Promise.reject(new GatewayError("overloaded", "counted"));
    },
  };
  const request = `{"custom_id":"a","params":{${newNames(5)}}}`;
  for (const text of [`{"requests":[${Array(6_000).fill(request)}]}`, `{"requests":[{${newNames(20_000)}}]}`]) {
    const source = { request: requestOf(text) };
    await assertRejects(
      () =>
        readListBody({ ...source, memory: UNLIMITED_MEMORY.lease("demo") }, {
          limits: { capBytes: 10_000_000 },
          lists: LISTS,
          thread: { reader: counting, aboveBytes: 2_000_000 },
          accountId: "demo",
        }),
      GatewayError,
      "counted",
    );
  }
  assertEquals(jobs, 2);
});

Deno.test("readListBody() refuses many values around a list", async () => {
  const work = createBodyWork({ clock: systemClock, log: silentLog });
  try {
    for (const other of [`{${newNames(1_000)}}`, `[${Array(11_000).fill(1)}]`]) {
      const text = `{"requests":[{}],"other":${other}}`;
      for (const reader of [null, work]) {
        await assertRejects(() => read(text, reader), GatewayError, "around the list of requests");
      }
    }
  } finally {
    work.close();
  }
});
