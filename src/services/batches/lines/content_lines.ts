import { Buffer } from "node:buffer";
import { RPC_CODES, rpcCodeOf } from "../../../conversation/codecs/content/shared/rpc_codes.ts";
import { jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { spliceJson } from "../../../platform/lib/json/json.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { bareModelName } from "../../../platform/names/bare_model_name.ts";
import { BATCH_LIMITS } from "../records/batch.ts";
import { type InputLine, oneLine, requestIn, valueOf } from "./input_lines.ts";
import type { LineFormat, NotRun } from "./line_format.ts";
import { isSuccess } from "./line_runner.ts";

/** Where the requests of a create are. */
const LIST = "batch.inputConfig.requests.requests";
const FILE = "batch.inputConfig.fileName";

const NOT_RUN: Readonly<Record<NotRun, JsonObject>> = {
  cancelled: { code: RPC_CODES.CANCELLED, message: "The batch was cancelled before this request was run" },
  expired: { code: RPC_CODES.DEADLINE_EXCEEDED, message: "The batch expired before this request was run" },
};

/**
 * Lines of the content protocol. Source: Gemini API reference, "Batch Mode".
 *
 * In a file: `{key, request}`, and `{key, response}` or `{key, error}`. In a create: `{request, metadata}`, and
 * `{metadata, response}` or `{metadata, error}` in the same order; metadata need not be unique.
 *
 * @param model The model of the batch, for requests that name none.
 */
export function contentLines(model: string, isInline: boolean): LineFormat {
  return {
    read(sent) {
      const { outline, bytes, scan } = jsonObjectOf(sent);
      const customId = isInline ? idOfMetadata(outline.metadata) : readKey(outline.key);
      requestIn(outline.request, "request");
      return { customId, ...withModel(valueOf({ bytes, scan }, "request"), model) };
    },
    hasUniqueIds: !isInline,
    requestField: "request",
    inputFields: { list: LIST, file: FILE },
    results: {
      answered({ customId, status }, body) {
        const head = Buffer.from(`{${headOf(customId, isInline)}"${isSuccess({ status }) ? "response" : "error"}":`);
        const value = isSuccess({ status }) ? oneLine(body) : Buffer.from(JSON.stringify(statusIn(body)));
        return Buffer.concat([head, value, Buffer.from("}")]);
      },
      notRun: (customId, why) => Buffer.from(`{${headOf(customId, isInline)}"error":${JSON.stringify(NOT_RUN[why])}}`),
    },
  };
}

function readKey(key: unknown): string {
  const { customIdCharacters: max } = BATCH_LIMITS;
  if (typeof key === "string" && key !== "" && key.length <= max) return key;
  throw invalidField("key", `expected text of 1 to ${max} characters`);
}

/** Each stored request names its model, as in other protocols. The endpoint takes it from there. */
function withModel(request: Uint8Array<ArrayBuffer>, model: string): Pick<InputLine, "body" | "model"> {
  const { outline, bytes, scan } = jsonObjectOf(request);
  const own = outline.model ?? model;
  if (typeof own !== "string") throw invalidField("request.model", "expected the name of a model");
  const name = bareModelName(own);
  return { model: name, body: spliceJson(bytes, scan, { set: { model: name } }).joined() };
}

/**
 * The id of a line by its metadata: the key if it has only that, which then names the line in the ledger, or else the
 * whole as JSON.
 */
function idOfMetadata(metadata: unknown): string {
  if (metadata === undefined || metadata === null) return "";
  const { customIdCharacters: max } = BATCH_LIMITS;
  if (typeof metadata !== "object" || Array.isArray(metadata)) throw invalidField("metadata", "expected an object");
  const { key, ...others }: { readonly key?: unknown } = metadata;
  const isKey = typeof key === "string" && key !== "" && !key.startsWith("{") && Object.keys(others).length === 0;
  const id = isKey ? key : JSON.stringify(metadata);
  if (id.length > max) throw invalidField("metadata", `expected at most ${max} characters of JSON`);
  return id;
}

/** The member that names a line in its result, with a comma; empty for none. */
function headOf(customId: string, isInline: boolean): string {
  if (!isInline) return `"key":${JSON.stringify(customId)},`;
  if (customId === "") return "";
  return `"metadata":${customId.startsWith("{") ? customId : JSON.stringify({ key: customId })},`;
}

/** The error of a reply as a `google.rpc.Status`. */
function statusIn(body: Uint8Array<ArrayBuffer>): JsonObject {
  const { error = {} } = JSON.parse(new TextDecoder().decode(body));
  const { status, message, details } = error;
  return { code: rpcCodeOf(String(status)), message, ...details !== undefined && { details } };
}
