import { Buffer } from "node:buffer";
import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import type { Outbound } from "../call/outbound_call.ts";
import type { BatchProgress, BatchUpstream } from "../contract/batch_upstream.ts";
import { multipartBody } from "../contract/multipart_body.ts";
import { BATCH_CALL, ignoreMissing, nullIfMissing, openContent } from "../shared/batch_exchange.ts";
import { readResultLine } from "../shared/result_line.ts";

/** The limits of one batch. Source: OpenAI API reference, "Create batch". */
const LIMITS = { lines: 50_000, bytes: 200_000_000, inputs: 50_000 };
const PAGE_SIZE = 100;
const MAX_PAGES = 50;
/** The uploaded file is removed at the end. If the gateway cannot, the vendor removes it after this time. */
const FILE_LIFETIME_SECONDS = 259_200;
/** Codes of a batch that was refused because too many tokens of others wait. */
const TEMPORARY_CODES: ReadonlySet<string> = new Set(["token_limit_exceeded", "too_many_tasks"]);
/** The name of the gateway's own id in the metadata. */
const MARK_NAME = "switchyard";

const text = z.string().nullish().catch(null);
const File = z.object({ id: z.string().min(1) });
const Batch = z.object({
  id: z.string().min(1),
  status: z.string(),
  created_at: z.number().nullish().catch(null),
  output_file_id: text,
  error_file_id: text,
  errors: z.object({ data: z.array(z.object({ code: text, message: text })).nullish() }).nullish().catch(null),
  metadata: z.record(z.string(), z.unknown()).nullish().catch(null),
});
const Page = z.object({ data: z.array(Batch), has_more: z.boolean().nullish() });
const Answered = z.object({
  custom_id: z.string(),
  response: z.object({ status_code: z.int().min(200).max(599) }).nullish(),
  error: z.object({ code: text }).nullish(),
});

/** Where the parts of a line of results are. */
const RESULT_NAMES = {
  reply: ["response", "body"],
  facts: new Set(["custom_id", "response", "status_code", "error"]),
};

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "expired", "cancelled"]);

/** Batches of OpenAI, and of vendors with the same interface. Source: OpenAI API reference, "Batch" and "Files". */
export function openaiBatches(outbound: Outbound): BatchUpstream {
  return {
    limits: LIMITS,
    inputsOf: ({ path, body }) => path === "/embeddings" ? inputsIn(jsonObjectOf(body).body.input) : 0,
    writeLine: (id, { path, body }) =>
      new Uint8Array(Buffer.concat([
        Buffer.from(`{"custom_id":${JSON.stringify(id)},"method":"POST","url":${JSON.stringify(urlOf(path))},"body":`),
        body,
        Buffer.from("}"),
      ])),
    async upload(content, signal) {
      const file = { mediaType: "application/jsonl", ...content };
      const form = multipartBody([
        { name: "purpose", text: "batch" },
        { name: "expires_after[anchor]", text: "created_at" },
        { name: "expires_after[seconds]", text: String(FILE_LIFETIME_SECONDS) },
        { name: "file", file, filename: "batch.jsonl" },
      ]);
      const callerSignal = () => signal;
      return (await outbound.json("POST", "/files", form, (reply) => File.parse(reply), { callerSignal })).id;
    },
    async create({ mark, path, file }, signal) {
      const body: JsonObject = {
        input_file_id: file,
        endpoint: urlOf(path),
        completion_window: "24h",
        metadata: { [MARK_NAME]: mark },
      };
      const options = { ...BATCH_CALL, callerSignal: () => signal };
      return (await outbound.json("POST", "/batches", body, (reply) => Batch.parse(reply), options)).id;
    },
    async find({ mark }, sinceMs) {
      let after = "";
      for (let page = 0; page < MAX_PAGES; page++) {
        const found = await outbound.json(
          "GET",
          `/batches?limit=${PAGE_SIZE}${after && `&after=${encodeURIComponent(after)}`}`,
          null,
          (reply) => Page.parse(reply),
          BATCH_CALL,
        );
        const own = found.data.find(({ metadata }) => metadata?.[MARK_NAME] === mark);
        if (own !== undefined) return { id: own.id };
        const last = found.data[found.data.length - 1];
        const isOlder = (last?.created_at ?? Infinity) * 1000 < sinceMs;
        if (last === undefined || found.has_more !== true || isOlder) return "absent";
        after = last.id;
      }
      return "unclear";
    },
    async read(id) {
      const path = `/batches/${encodeURIComponent(id)}`;
      const found = await nullIfMissing(() =>
        outbound.json("GET", path, null, (reply) => Batch.parse(reply), BATCH_CALL)
      );
      return found === null ? { state: "gone" } : progressOf(found, outbound);
    },
    async cancel(id) {
      const path = `/batches/${encodeURIComponent(id)}/cancel`;
      await ignoreMissing(() => outbound.json("POST", path, null, () => true, BATCH_CALL));
    },
    results: (file, from) => openContent({ outbound, path: `/files/${encodeURIComponent(file)}/content`, from }),
    async readResult(line) {
      const { around, memberAt } = await readResultLine(line, RESULT_NAMES);
      const whole = Answered.safeParse(around);
      if (!whole.success) return null;
      const { custom_id: id, response, error } = whole.data;
      if (!response) return { id, unrun: error?.code ?? "" };
      const body = memberAt(RESULT_NAMES.reply);
      return body === null ? null : { id, status: response.status_code, body };
    },
    async remove(_id, files) {
      for (const file of files) {
        const path = `/files/${encodeURIComponent(file)}`;
        await ignoreMissing(() => outbound.json("DELETE", path, null, () => true, BATCH_CALL));
      }
    },
  };
}

/** One input is a text, or a list of the ids of its tokens. */
function inputsIn(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
}

/** Lines name the whole path of their endpoint, whatever is in front of it in the provider's address. */
function urlOf(path: string): string {
  return `/v1${path}`;
}

function progressOf(batch: z.output<typeof Batch>, outbound: Outbound): BatchProgress {
  if (!ENDED.has(batch.status)) return { state: "open" };
  const ids = (each: readonly (string | null | undefined)[]) =>
    each.filter((id) => typeof id === "string").filter((id) => id !== "");
  const results = ids([batch.output_file_id, batch.error_file_id]);
  const [first] = batch.errors?.data ?? [];
  const code = first?.code ?? "";
  const { message } = outbound.failure("invalid", first?.message ?? "", { vendorCode: code });
  return {
    state: "ended",
    // A batch that failed was refused as a whole.
    failure: batch.status === "failed" && results.length === 0
      ? { code, message, isTemporary: TEMPORARY_CODES.has(code) }
      : null,
    results,
  };
}
