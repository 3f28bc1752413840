import { Buffer } from "node:buffer";
import type { WireFormat } from "../../../conversation/contract/format.ts";
import { parseWithExactValues } from "../../../conversation/neutral/exact_values.ts";
import { readModelName } from "../../../conversation/models/answering_models.ts";
import type { WireFormatName } from "../../../conversation/neutral/reasoning_signature.ts";
import type { Reply } from "../../../conversation/neutral/reply.ts";
import type { UpstreamFormat } from "../../../conversation/contract/upstream_format.ts";
import { concatBytes } from "../../../platform/lib/bytes/concat_bytes.ts";
import { textHasMoreValuesThan } from "../../../platform/lib/json/json_values.ts";
import { wellFormedJson } from "../../../platform/lib/json/well_formed_json.ts";
import { toCallerReply } from "../relay/caller_reply.ts";
import { emulationOf } from "../relay/emulation.ts";
import { issuedIdsIn } from "../relay/issued_ids_relay.ts";
import { itemMemoryOver } from "../memory/item_memory.ts";
import { countHostedCalls } from "../charge/plausible_usage.ts";
import { type KeptReasoning, reasoningMemoryOver } from "../memory/reasoning_memory.ts";
import { passedTextOf, sampleOf, textOf, type TextSample } from "../plan/token_estimate.ts";
import { CollectedValues } from "./collected_values.ts";
import type {
  PassedReplyFacts,
  PassedReplyJob,
  ReplyFacts,
  ReplyJob,
  ReplyJobResults,
  TranslatedReplyJob,
  WriteReplyJob,
  WrittenReply,
} from "./reply_jobs.ts";
import { Late } from "../../../platform/lib/process/late.ts";

/** The maximum number of JSON values in a reply. Each needs up to 100 bytes of the thread's memory. */
const MAX_REPLY_VALUES = 2_000_000;

/** The characters of values that one reply keeps for later requests. Main thread and memory are spared the rest. */
const MAX_KEPT_CHARACTERS = 2_000_000;

/** A byte order mark stays, so that a reply with one is no JSON. */
const PASSED_DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
/** Removes a byte order mark. */
const DECODER = new TextDecoder();

const FORMATS: Readonly<Record<WireFormatName, Late<Pick<WireFormat, "upstream"> & Partial<WireFormat>>>> = {
  chat: new Late(async () => (await import("../../../conversation/codecs/chat/mod.ts")).chat),
  responses: new Late(async () => (await import("../../../conversation/codecs/responses/mod.ts")).responses),
  messages: new Late(async () => (await import("../../../conversation/codecs/messages/mod.ts")).messages),
  content: new Late(async () => (await import("../../../conversation/codecs/content/mod.ts")).content),
  converse: new Late(async () => (await import("../../../conversation/codecs/converse/mod.ts")).converse),
};

/**
 * Does a job in this thread.
 *
 * @throws {SyntaxError | TypeError | RangeError} If the reply is not one of its format, or has too many values.
 */
export async function runReplyJob(job: ReplyJob): Promise<ReplyJobResults[ReplyJob["name"]]> {
  const { upstream, passThrough } = await FORMATS[job.format].load();
  switch (job.name) {
    case "passed":
      return passedFacts(job, upstream, passThrough);
    case "translated":
      return translatedFacts(job, upstream);
    case "write":
      return await written(job, upstream);
  }
}

function passedFacts(job: PassedReplyJob, format: UpstreamFormat, pass?: WireFormat["passThrough"]): PassedReplyFacts {
  const bytes = joined(job.pieces);
  const text = PASSED_DECODER.decode(bytes);
  const value = parsed(text);
  const restorer = job.issuer !== null
    ? pass?.wrapperOf?.(job.issuer)
    : job.names === null
    ? undefined
    : pass?.restorerOf?.(job.names);
  return {
    pieces: restorer === undefined ? job.pieces : [bufferOf(restorer.whole(bytes, value))],
    usage: format.readUsage(value),
    model: pass?.modelIn(value) ?? null,
    hostedCalls: countHostedCalls(text),
    lost: format.readDroppedFields?.(value) ?? [],
    output: passedSample(value, format),
    ids: issuedIdsIn({ text, value }, pass?.issuedIds ?? null, job.policy),
  };
}

/** A reply without text, such as one that a filter stopped, may not be readable. */
function passedSample(value: unknown, format: UpstreamFormat): TextSample | null {
  try {
    return sampleOf(passedTextOf(format.readReply(value)));
  } catch {
    return null;
  }
}

function translatedFacts(job: TranslatedReplyJob, format: UpstreamFormat): ReplyFacts {
  const text = DECODER.decode(joined(job.pieces));
  const value = parsed(text);
  const reply = callerReplyOf(value, job, format);
  return {
    pieces: job.pieces,
    usage: reply.usage,
    model: readModelName(reply.model),
    hostedCalls: countHostedCalls(text),
    lost: format.readDroppedFields?.(value) ?? [],
    output: sampleOf(textOf(reply)),
  };
}

async function written(job: WriteReplyJob, format: UpstreamFormat): Promise<WrittenReply> {
  const { caller, accountId, replay, usage, context } = job;
  const writer = (await FORMATS[caller].load()).caller!;
  const reply = callerReplyOf(parsed(DECODER.decode(joined(job.pieces))), job, format);
  const reasoning = new CollectedValues<KeptReasoning>(MAX_KEPT_CHARACTERS);
  reasoningMemoryOver(reasoning).keep(accountId, reply.parts, replay.signatures);
  const { body, droppedFields } = writer.writeReply({ ...reply, usage }, context);
  const items = new CollectedValues<string>(MAX_KEPT_CHARACTERS);
  if (replay.items) itemMemoryOver(items).keepReply(accountId, body);
  return {
    pieces: [bufferOf(Buffer.from(wellFormedJson(body)))],
    droppedFields,
    unread: reply.unsupportedFields,
    reasoning: reasoning.values,
    items: items.values,
  };
}

function callerReplyOf(
  value: unknown,
  { names, emulation }: Pick<TranslatedReplyJob, "names" | "emulation">,
  format: UpstreamFormat,
): Reply {
  return emulationOf(emulation).reply(toCallerReply(format.readReply(value), names));
}

function parsed(text: string): unknown {
  if (textHasMoreValuesThan(text, MAX_REPLY_VALUES)) {
    throw new RangeError(`Reply has more than ${MAX_REPLY_VALUES} JSON values`);
  }
  return parseWithExactValues(text);
}

function joined(pieces: readonly ArrayBuffer[]): Uint8Array<ArrayBuffer> {
  return concatBytes(pieces.map((piece) => new Uint8Array(piece)));
}

/** A buffer that contains only these bytes. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length ? buffer : new Uint8Array(bytes).buffer;
}
