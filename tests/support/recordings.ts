import type { Frame } from "../../src/platform/lib/streams/frame.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";

/** Recordings of real vendors: beside the repository, or at `SWITCHYARD_FIXTURES`; null where they are absent. */
export const RECORDINGS: string | null = findRecordings();

/** Recordings of the simulated vendors, which `deno task fixtures` writes, and those of real vendors where present. */
export const RECORDING_FOLDERS: readonly string[] = [
  new URL("../fixtures", import.meta.url).pathname,
  ...(RECORDINGS === null ? [] : [RECORDINGS]),
];

/**
 * The number of recordings that a test must have checked: `count`, or at most 10 without recordings of real vendors.
 */
export function minRecordings(count: number): number {
  return RECORDINGS === null ? Math.min(count, 10) : count;
}

function findRecordings(): string | null {
  const folder = Deno.env.get("SWITCHYARD_FIXTURES") ??
    new URL("../../../shared/fixtures", import.meta.url).pathname;
  try {
    return Deno.statSync(folder).isDirectory ? folder : null;
  } catch {
    return null;
  }
}

/** One recorded successful call of a model: the request, if it was recorded, and the response. */
export interface Recording {
  readonly form: CallerFormatName;
  readonly name: string;
  /** With `model` in it also where the format has it in the path. */
  readonly request: JsonObject | null;
  /** A whole reply; null for a stream. */
  readonly whole: JsonObject | null;
  /** A stream; null for a whole reply. */
  readonly frames: readonly Frame[] | null;
}

const FOLDERS: Readonly<Record<string, CallerFormatName>> = {
  "anthropic": "messages",
  "azure-responses": "responses",
  "cross-provider": "chat", // has only exchanges, whose paths show their format
  "google": "content",
  "open-responses": "responses",
  "openai-chat": "chat",
  "openai-compatible": "chat",
  "openai-responses": "responses",
  "openrouter": "chat",
};

/** Every recorded call of the four formats. */
export function recordings(): Recording[] {
  return Object.entries(FOLDERS).flatMap(([folder, form]) => [
    ...filesIn(folder).flatMap(({ name, text }) => plainOf(form, name, text)),
    ...filesIn(`${folder}/exchanges`).flatMap(({ name, text }) => exchangesOf(name, text)),
  ]).filter((recording) => recording.frames !== null || isReply(recording.form, recording.whole));
}

function filesIn(folder: string): { name: string; text: string }[] {
  return RECORDING_FOLDERS.flatMap((root) => {
    const path = `${root}/${folder}`;
    return namesIn(path).map((name) => ({ name: `${folder}/${name}`, text: Deno.readTextFileSync(`${path}/${name}`) }));
  });
}

/** The names of the files in a folder, in order; none where it is absent. */
export function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].filter((entry) => entry.isFile).map((entry) => entry.name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** A file with one reply or the data of its stream. */
function plainOf(form: CallerFormatName, name: string, text: string): Recording[] {
  if (name.endsWith(".json")) return [{ form, name, request: null, whole: JSON.parse(text), frames: null }];
  if (name.endsWith(".jsonl.txt")) return [];
  const data = name.endsWith(".sse.txt") ? dataOf(text) : text.split("\n").filter((line) => line.trim() !== "");
  return streamsOf(form, data).map((frames) => ({ form, name, request: null, whole: null, frames }));
}

interface Exchange {
  readonly request: { readonly path: string; readonly body: JsonObject };
  readonly response: { readonly status: number; readonly body?: JsonObject; readonly text?: string };
}

function exchangesOf(name: string, text: string): Recording[] {
  const { exchanges } = JSON.parse(text) as { exchanges: Exchange[] };
  return exchanges.flatMap(({ request, response }, at): Recording[] => {
    const form = formOf(request.path);
    if (form === null || response.status !== 200 || !request.body) return [];
    const [model] = /(?<=models\/)[^:/]+(?=:)/.exec(request.path) ?? [];
    const asked = model === undefined ? request.body : { ...request.body, model };
    const frames = response.text === undefined ? null : streamsOf(form, dataOf(response.text))[0] ?? null;
    const whole = frames === null ? response.body ?? null : null;
    return [{ form, name: `${name}#${at}`, request: asked, whole, frames }];
  });
}

function formOf(path: string): CallerFormatName | null {
  const bare = path.replace(/[?#].*$/, "");
  if (bare.endsWith("/chat/completions")) return "chat";
  if (bare.endsWith("/messages")) return "messages";
  if (bare.endsWith("/responses")) return "responses";
  return /:(stream)?generateContent$/i.test(bare) ? "content" : null;
}

function dataOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim());
}

/** Some files have several replies in a row. */
function streamsOf(form: CallerFormatName, data: readonly string[]): Frame[][] {
  const streams: Frame[][] = [];
  for (const line of data) {
    const body = line === "[DONE]" ? {} : JSON.parse(line);
    const begins = body.type === "message_start" || body.type === "response.created";
    if (begins || streams.length === 0) streams.push([]);
    const event = form === "messages" || form === "responses" ? String(body.type) : null;
    streams.at(-1)!.push({ event, data: line });
  }
  return streams;
}

function isReply(form: CallerFormatName, body: JsonObject | null): boolean {
  switch (form) {
    case "chat":
      return Array.isArray(body?.choices);
    case "messages":
      return body?.type === "message";
    case "responses":
      return body?.object === "response" && Array.isArray(body.output);
    case "content":
      return Array.isArray(body?.candidates);
  }
}
