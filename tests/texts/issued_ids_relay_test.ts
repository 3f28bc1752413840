import { passRelayOf } from "./support.ts";
import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import type { Bytes, StreamTransform } from "../../src/services/calls/stream_relay.ts";
import type { StateReference } from "../../src/services/ownership/records.ts";
import { MAX_IDS_PER_REPLY, withIssuedIds } from "../../src/services/texts/relay/issued_ids_relay.ts";
import { attemptOf, bodyOf, cutAt, textOf } from "./support.ts";

/** Creates a relay of a responses stream, and records what was stored before each of its bytes was sent. */
function relayOf(keep: (states: readonly StateReference[]) => Promise<void>, fields: object = {}) {
  const attempt = attemptOf("responses", { request: { body: bodyOf("responses", { stream: true, ...fields }) } });
  const vendorState = {
    keep: (_owner: unknown, states: readonly StateReference[]) => keep(states),
    owners: () => Promise.resolve([]),
  };
  return withIssuedIds(passRelayOf(attempt), attempt, { vendorState });
}

const ITEM = { id: "msg_1", type: "message", role: "assistant", content: [] };
const CALL = { id: "ci_1", type: "code_interpreter_call", container_id: "cntr_1" };
const CITATION = { type: "container_file_citation", container_id: "cntr_1", file_id: "cfile_1" };
const USAGE = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const EVENTS = [
  { type: "response.created", response: { id: "resp_1", object: "response", output: [] } },
  { type: "response.output_item.added", output_index: 0, item: CALL },
  { type: "response.output_item.added", output_index: 1, item: ITEM },
  { type: "response.output_text.delta", item_id: "msg_1", delta: 'a "id": "resp_of_the_model"' },
  { type: "response.output_text.annotation.added", item_id: "msg_1", annotation: CITATION },
  { type: "response.completed", response: { id: "resp_1", object: "response", output: [CALL, ITEM], usage: USAGE } },
];
const TEXT = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
const IDS = ["response resp_1", "item ci_1", "container cntr_1", "item msg_1", "file cfile_1"];

async function drive(
  relay: StreamTransform,
  pieces: readonly Uint8Array<ArrayBuffer>[],
  onBytes: (text: string) => void,
) {
  const out: Bytes[] = [];
  for (const piece of pieces) {
    out.push(await relay.take(piece));
    onBytes(textOf(out));
  }
  out.push(await relay.end());
  return textOf(out);
}

Deno.test("no id of a stream is sent before it is stored, wherever reads are split, and each is stored once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }), async (places) => {
      const kept: string[] = [];
      const relay = relayOf(async (states) => {
        await Promise.resolve();
        kept.push(...states.map(({ kind, id }) => `${kind} ${id}`));
      });
      const text = await drive(relay, cutAt(TEXT, places), (sent) => {
        for (const id of IDS.map((each) => each.split(" ")[1])) {
          if (sent.includes(`"${id}"`)) assertEquals(kept.some((each) => each.endsWith(` ${id}`)), true, id);
        }
      });
      assertEquals(text, TEXT);
      assertEquals(kept, IDS);
    }),
    { numRuns: 60 },
  );
});

Deno.test("for a reply that the vendor does not store, only ids that can be looked up are kept", async () => {
  const kept: string[] = [];
  const relay = relayOf((states) => Promise.resolve(void kept.push(...states.map(({ id }) => id))), { store: false });
  await drive(relay, cutAt(TEXT, []), () => {});
  assertEquals(kept, ["ci_1", "cntr_1", "cfile_1"]);
});

Deno.test("a stream whose ids cannot be stored fails before they are sent", async () => {
  const relay = relayOf(() => Promise.reject(new Error("The disk is full")));
  await assertRejects(async () => await relay.take(new TextEncoder().encode(TEXT)), Error, "The disk is full");
});

Deno.test("a stream with endless ids passes, and the number of stored ids is bounded", async () => {
  const events = Array.from({ length: MAX_IDS_PER_REPLY + 10 }, (_, nth) => ({
    type: "response.output_item.added",
    output_index: nth,
    item: { ...ITEM, id: `msg_${nth}` },
  }));
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  let kept = 0;
  const relay = relayOf((states) => Promise.resolve(void (kept += states.length)));
  const sent = [await relay.take(new TextEncoder().encode(text)), await relay.take(new TextEncoder().encode(TEXT))];
  assertEquals([textOf(sent), kept], [text + TEXT, MAX_IDS_PER_REPLY]);
});
