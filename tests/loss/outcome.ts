import { rejectUnmeteredWork } from "../../src/conversation/parts/reply/unmetered_work.ts";
import { withCallerFieldName } from "../../src/conversation/contract/caller_field_error.ts";
import { needsInlining } from "../../src/conversation/codecs/content/mod.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { WriteResult } from "../../src/conversation/neutral/write_result.ts";
import type { Conversation } from "../../src/conversation/neutral/conversation.ts";
import type { CallerFormatName, WireFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import { emulationFor } from "../../src/services/texts/relay/emulation.ts";
import { inlineMedia } from "../../src/services/texts/plan/inline_media.ts";
import { CODECS, TARGETS, UPSTREAMS } from "../support/formats.ts";
import { atLeast, itemAt } from "../support/items.ts";
import type { Step } from "./probes.ts";

/** The outcome of a request for a vendor of another format. */
export type Outcome =
  | { readonly kind: "sent"; readonly body: string; readonly dropped: readonly string[] }
  | { readonly kind: "refused"; readonly field: string; readonly message: string };

/** Translates a request as the text service does, without sending it. */
export async function outcomeOf(from: CallerFormatName, to: WireFormatName, body: JsonObject): Promise<Outcome> {
  try {
    CODECS[from].caller.check(body);
    rejectUnmeteredWork(body);
    const read = CODECS[from].caller.read(body);
    const conversation = await inlineMedia(
      read,
      ({ source }) => to === "converse" ? source.kind === "url" : to === "content" && needsInlining(source),
      () => Promise.resolve({ mediaType: "image/png", data: "iVBORw0KGgo=" }),
      { memory: UNLIMITED_MEMORY.lease(), callerSignal: () => new AbortController().signal },
    );
    const written = writtenFor(from, to, body, conversation);
    const { droppedFields } = emulationFor(conversation, written.droppedFields);
    const dropped = [...conversation.unsupportedFields, ...CODECS[from].caller.droppedFields(body, droppedFields)];
    // In two formats the path states whether to stream.
    const told = to === "content" || to === "converse"
      ? { ...written.body, stream: conversation.stream }
      : written.body;
    return { kind: "sent", body: JSON.stringify(told), dropped };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "invalid_request") throw error;
    return { kind: "refused", field: error.details.field ?? "", message: error.message };
  }
}

function writtenFor(
  from: CallerFormatName,
  to: WireFormatName,
  body: JsonObject,
  conversation: Conversation,
): WriteResult<JsonObject> {
  try {
    return UPSTREAMS[to].writeRequest(conversation, TARGETS[to]);
  } catch (thrown) {
    throw withCallerFieldName(thrown, CODECS[from].caller, body);
  }
}

/** Lists with the whole conversation: their names are too general to report a dropped member. */
const TOO_WIDE: ReadonlySet<string> = new Set(["messages", "input", "contents", "tools"]);

/** True when a name reports a parameter: it is on the parameter's path or below it. It may contain kinds. */
export function isNameOf(name: string, steps: readonly Step[]): boolean {
  if (TOO_WIDE.has(name) && steps.length > 1) return false;
  return follows(name.replaceAll(/\[\d+\]/g, "").split("."), steps);
}

function follows(allWords: readonly string[], allSteps: readonly Step[]): boolean {
  const [word, ...words] = atLeast(allWords, 1);
  const [step, ...steps] = atLeast(allSteps, 1);
  if (word !== step.key) return false;
  if (steps.length === 0 || words.length === 0) return true;
  return follows(words, steps) ||
    (step.kinds.includes(itemAt(words, 0)) && (words.length === 1 || follows(words.slice(1), steps)));
}

/** True when a caller sent what a name reports: each step is a member or the kind of an object. */
export function isSent(value: unknown, words: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((each) => isSent(each, words));
  if (words.length === 0) return value !== null && value !== undefined;
  if (typeof value !== "object" || value === null) return false;
  const object = value as JsonObject;
  if (Object.hasOwn(object, itemAt(words, 0)) && isSent(object[itemAt(words, 0)], words.slice(1))) return true;
  return object.type === words[0] && isSent(object, words.slice(1));
}
