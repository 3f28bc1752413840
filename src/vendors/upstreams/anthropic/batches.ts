import { Buffer } from "node:buffer";
import * as z from "zod";
import { statusOf } from "../../../conversation/codecs/messages/upstream/error.ts";
import { jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { spliceJson } from "../../../platform/lib/json/json.ts";
import type { Outbound } from "../call/outbound_call.ts";
import type { OutboundBody } from "../call/outbound_body.ts";
import type { BatchContent, BatchOrder, BatchUpstream } from "../contract/batch_upstream.ts";
import { readAnthropicError } from "./text.ts";
import { BATCH_CALL, ignoreMissing, nullIfMissing, openContent } from "../shared/batch_exchange.ts";
import { readResultLine } from "../shared/result_line.ts";

/** The limits of one batch, whose bytes are those of the body. Source: Messages API reference, "Message Batches". */
const LIMITS = { lines: 100_000, bytes: 256_000_000 - 1_000 };
const PATH = "/v1/messages/batches";
const PAGE_SIZE = 100;
const MAX_PAGES = 20;
/** The first line of results, of which only the id is read. */
const MAX_FIRST_LINE_BYTES = 16_777_216;

const count = z.int().nonnegative().catch(0);
const Batch = z.object({
  id: z.string().min(1),
  processing_status: z.string(),
  created_at: z.string().nullish().catch(null),
  request_counts: z.object({
    processing: count,
    succeeded: count,
    errored: count,
    canceled: count,
    expired: count,
  }).nullish().catch(null),
});
const Page = z.object({ data: z.array(Batch), has_more: z.boolean().nullish() });
const Result = z.object({
  custom_id: z.string(),
  result: z.object({
    type: z.string(),
    error: z.object({ error: z.object({ type: z.string().nullish() }).nullish() }).nullish().catch(null),
  }),
});

/** Where the parts of a line of results are. */
const RESULT_NAMES = { reply: ["result", "message"], facts: new Set(["custom_id", "type", "error"]) };

/** Message batches of Anthropic. Source: Messages API reference, "Message Batches". */
export function anthropicBatches(outbound: Outbound): BatchUpstream {
  const options = { ...BATCH_CALL, readError: readAnthropicError };
  const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;
  return {
    limits: LIMITS,
    writeLine: (id, { body }) =>
      new Uint8Array(Buffer.concat([
        Buffer.from(`{"custom_id":${JSON.stringify(id)},"params":`),
        withoutStream(body),
        Buffer.from("}"),
      ])),
    async create({ content, headers }, signal) {
      const extras = { ...options, headers, callerSignal: () => signal };
      return (await outbound.json("POST", PATH, requestsBody(content), (reply) => Batch.parse(reply), extras)).id;
    },
    async find(order, sinceMs) {
      let after = "";
      let isUnclear = false;
      for (let page = 0; page < MAX_PAGES; page++) {
        const path = `${PATH}?limit=${PAGE_SIZE}${after && `&after_id=${encodeURIComponent(after)}`}`;
        const { data, has_more: more } = await outbound.json("GET", path, null, (reply) => Page.parse(reply), options);
        for (const batch of data) {
          if (!mayBe(batch, order, sinceMs)) continue;
          // A batch has no place for a name: its lines tell, and they are shown at its end.
          if (batch.processing_status !== "ended") isUnclear = true;
          else if (await hasLineOf(order, batch.id)) return { id: batch.id };
        }
        const last = data[data.length - 1];
        const isOlder = last !== undefined && createdAt(last) < sinceMs;
        if (last === undefined || more !== true || isOlder) return isUnclear ? "unclear" : "absent";
        after = last.id;
      }
      return "unclear";
    },
    async read(id) {
      const batch = await nullIfMissing(() =>
        outbound.json("GET", pathOf(id), null, (reply) => Batch.parse(reply), options)
      );
      if (batch === null) return { state: "gone" };
      if (batch.processing_status !== "ended") return { state: "open" };
      return { state: "ended", failure: null, results: [id] };
    },
    async cancel(id) {
      await ignoreMissing(() => outbound.json("POST", `${pathOf(id)}/cancel`, null, () => true, options));
    },
    results: (id, from) =>
      openContent({ outbound, path: `${pathOf(id)}/results`, from, readError: readAnthropicError }),
    async readResult(line) {
      const { around, memberAt } = await readResultLine(line, RESULT_NAMES);
      const whole = Result.safeParse(around);
      if (!whole.success) return null;
      const { custom_id: id, result: { type, error } } = whole.data;
      if (type !== "succeeded" && type !== "errored") return { id, unrun: type };
      const body = memberAt(type === "succeeded" ? RESULT_NAMES.reply : ["result", "error"]);
      if (body === null) return null;
      return { id, status: type === "succeeded" ? 200 : statusOf(error?.error?.type ?? null) ?? 500, body };
    },
    async remove(id) {
      await ignoreMissing(() => outbound.json("DELETE", pathOf(id), null, () => true, options));
    },
  };

  /** Whether the results of a batch have lines of an order: its first line tells. */
  async function hasLineOf({ idPrefix }: BatchOrder, id: string): Promise<boolean> {
    let line = new Uint8Array();
    const { chunks } = await openContent({ outbound, path: `${pathOf(id)}/results`, readError: readAnthropicError });
    for await (const chunk of chunks) {
      line = new Uint8Array(Buffer.concat([line, chunk]));
      const end = line.indexOf(LINE_FEED);
      if (end >= 0) line = line.subarray(0, end);
      if (end >= 0 || line.length > MAX_FIRST_LINE_BYTES) break;
    }
    const [, name = ""] = /"custom_id"\s*:\s*"([\w-]{1,64})"/.exec(new TextDecoder().decode(line)) ?? [];
    return name.startsWith(idPrefix);
  }
}

const LINE_FEED = 0x0a;
const COMMA = 0x2c;

/** Whether a batch can be the one of an order: it is as large, and not older. */
function mayBe(batch: z.output<typeof Batch>, { count: lines }: BatchOrder, sinceMs: number): boolean {
  const total = Object.values(batch.request_counts ?? {}).reduce((sum, each) => sum + each, 0);
  return total === lines && !(createdAt(batch) < sinceMs);
}

function createdAt({ created_at: at }: z.output<typeof Batch>): number {
  return Date.parse(at ?? "");
}

/** The vendor refuses the member in a batch, also if it is false. */
function withoutStream(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const { scan } = jsonObjectOf(body);
  if (!scan.members.some(({ key }) => key === "stream")) return body;
  return spliceJson(body, scan, { remove: ["stream"] }).joined();
}

/** The lines as the list of a JSON body. They have no line feeds within, and each has one at its end. */
function requestsBody({ lengthBytes, open }: BatchContent): OutboundBody {
  const [head, tail] = [Buffer.from('{"requests":['), Buffer.from("]}")];
  return {
    contentType: "application/json",
    lengthBytes: head.length + lengthBytes - 1 + tail.length,
    async *open() {
      yield head;
      let left = lengthBytes - 1;
      for await (const chunk of open()) {
        const list = chunk.subarray(0, left).map((byte) => byte === LINE_FEED ? COMMA : byte);
        left -= list.length;
        if (list.length > 0) yield list;
      }
      yield tail;
    },
  };
}
