import { readChecked } from "../../src/conversation/contract/caller_format.ts";
import { assert, assertEquals } from "@std/assert";
import type { Conversation, Part, Source } from "../../src/conversation/neutral/conversation.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { asRead, CODECS, FORMATS, throughFormat } from "../support/formats.ts";
import { minRecordings, type Recording, recordings } from "../support/recordings.ts";

const asked = recordings().filter((recording) => recording.request !== null);

/** Reasons why a request cannot be sent to another vendor, by their error messages. */
const REASONS: readonly (readonly [reason: string, message: RegExp])[] = [
  ["its history is kept by the vendor", /"(previous_response_id|conversation)": .*send the whole conversation/],
  ["its history is a vendor's own summary", /"input\[\d+\]": .*send the compacted items instead/],
  ["its answer is to be fetched later", /"background": .*set it to false/],
  ["it names a file by a vendor's id", /file ids are not supported|file_id": not supported/],
  ["it names a file in a vendor's store", /the file is stored at another vendor/],
  ["it shows a video", /does not support video input/],
  ["it holds sound that the form has no place for", /does not support audio/],
];

/** Inlines media by URL for a vendor that fetches none of their kind, as the gateway does before writing a request. */
function inlined(conversation: Conversation, to: CallerFormatName): Conversation {
  const turns = conversation.turns.map((turn) => ({ ...turn, parts: turn.parts.map((part) => inlinedPart(part, to)) }));
  return { ...conversation, turns };
}

function inlinedPart<P extends Part>(part: P, to: CallerFormatName): P {
  if (part.kind === "tool_result") return { ...part, parts: part.parts.map((inner) => inlinedPart(inner, to)) };
  const isFetched = to === "content" || (to === "chat" && part.kind !== "image");
  return isFetched && "source" in part ? { ...part, source: bytesFor(part.source, part.kind) } : part;
}

function bytesFor(source: Source, kind: string): Source {
  if (source.kind === "base64" || !/^https?:/.test(source.url)) return source;
  const usual = { image: "image/png", file: "application/pdf", audio: "audio/wav", video: "video/mp4" }[kind]!;
  return { kind: "base64", mediaType: source.mediaType ?? usual, data: "AAAA" };
}

interface Said {
  readonly texts: readonly string[];
  readonly tools: readonly string[];
  readonly calls: readonly unknown[];
  readonly results: readonly string[];
  readonly images: number;
}

function saidIn({ instructions, turns, tools }: Conversation, names: ReadonlyMap<string, string> = new Map()): Said {
  const nameOf = (wire: string) => names.get(wire) ?? wire;
  const parts = turns.flatMap((turn) => turn.parts);
  const calls = parts.filter((part) => part.kind === "tool_call");
  const called = new Set(calls.map((call) => call.callId));
  const results = parts.filter((part) => part.kind === "tool_result").filter((part) => called.has(part.callId));
  const shown = [...parts, ...results.flatMap((result) => result.parts)];
  return {
    texts: [...instructions, ...parts].flatMap((part) => part.kind === "text" ? [part.text] : []),
    tools: tools.map((tool) => nameOf(tool.name)),
    calls: calls.map((call) => [nameOf(call.tool), call.custom ? call.input : valueOf(call.input)]),
    results: results.map((result) => result.parts.map((part) => part.kind === "text" ? part.text : "").join("\n")),
    images: shown.filter((part) => part.kind === "image").length,
  };
}

function valueOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function assertKept(before: Said, after: Said, name: string): void {
  // A vendor that rejects calls in the history without a tool is offered the called tools.
  if (before.tools.length > 0) assertEquals(after.tools, before.tools, name);
  assertEquals(after.calls, before.calls, name);
  assertEquals(after.images, before.images, name);
  assertInOrder(before.texts, after.texts, name);
  assertInOrder(before.results, after.results, name);
}

/** Checks that all texts occur in order; other text may be between them. */
function assertInOrder(texts: readonly string[], all: readonly string[], name: string): void {
  const said = squeezed(all);
  let from = 0;
  for (const text of texts) {
    const at = said.indexOf(squeezed([text]), from);
    assert(at >= 0, `${name}: a text of ${text.length} characters was lost`);
    from = at;
  }
}

/** Texts without whitespace, which differs between formats. */
function squeezed(texts: readonly string[]): string {
  return texts.join("").replaceAll(/\s/g, "");
}

function reasonOf(error: unknown): string {
  if (!(error instanceof GatewayError) || error.code !== "invalid_request") throw error;
  const reason = REASONS.find(([, message]) => message.test(error.message));
  if (!reason) {
    console.log("REASON", error.message);
    return error.message;
  }
  return reason[0];
}

/** Checks one request in one format, or returns why it is rejected. */
function refusalOf({ form, request, name }: Recording, to: CallerFormatName): string | null {
  try {
    const conversation = readChecked(CODECS[form].caller, request!);
    const sendable = inlined(conversation, to);
    const { read, body: written, toolNames } = throughFormat(to, sendable);
    CODECS[to].caller.check(asRead(to, written, conversation.stream));
    assertKept(saidIn(sendable), saidIn(read, toolNames), `${name} as ${to}`);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

for (const from of FORMATS) {
  for (const to of FORMATS) {
    if (to === from) continue;
    Deno.test({
      name:
        `every recorded ${from} request keeps its words, tools, calls and pictures as ${to}, or is refused for a reason`,
      fn() {
        const own = asked.filter((recording) => recording.form === from);
        const refused = own.map((recording) => refusalOf(recording, to)).filter((reason) => reason !== null);
        assert(own.length >= minRecordings(90), `only ${own.length} requests`);
        assert(refused.length < own.length / 5, `refused: ${refused}`);
      },
    });
  }
}
