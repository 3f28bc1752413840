import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { namesIn, RECORDING_FOLDERS } from "../../../support/recordings.ts";

const FOLDERS = ["openai-responses", "azure-responses", "open-responses"];

/** A recorded reply or stream, with its name. */
export interface Recording<T> {
  readonly name: string;
  readonly body: T;
}

interface Exchange {
  readonly request: { readonly body?: JsonObject };
  readonly response: { readonly status: number; readonly body?: JsonObject; readonly text?: string };
}

/** Paths of every recorded file with this ending. */
function filesOf(ending: string): string[] {
  const folders = RECORDING_FOLDERS.flatMap((root) => FOLDERS.map((folder) => `${root}/${folder}`));
  return folders.flatMap((folder) => [folder, `${folder}/exchanges`])
    .flatMap((folder) => namesIn(folder).map((name) => `${folder}/${name}`))
    .filter((path) => path.endsWith(ending)).sort();
}

function exchanges(): Recording<Exchange>[] {
  return filesOf(".json").filter((name) => name.includes("/exchanges/")).flatMap((name) => {
    const { exchanges } = JSON.parse(Deno.readTextFileSync(name)) as { exchanges: Exchange[] };
    return exchanges.map((body, index) => ({ name: `${name}#${index}`, body }));
  });
}

/** Finished response objects. */
export function recordedReplies(): Recording<JsonObject>[] {
  const files = filesOf(".json").filter((name) => !name.includes("/exchanges/")).map((name) => ({
    name,
    body: JSON.parse(Deno.readTextFileSync(name)) as JsonObject,
  }));
  const answers = exchanges().flatMap(({ name, body }) =>
    body.response.body ? [{ name, body: body.response.body }] : []
  );
  return [...files, ...answers].filter(({ body }) =>
    body.object === "response" && ["completed", "complete"].includes(body.status as string)
  );
}

/** Request bodies that vendors accepted. */
export function recordedRequests(): Recording<JsonObject>[] {
  return exchanges().filter(({ body }) => body.response.status === 200 && body.request.body?.model)
    .filter(({ body }) => "input" in body.request.body!).map(({ name, body }) => ({ name, body: body.request.body! }));
}

/** Streams as their events, one entry per response, because some files hold several. */
export function recordedStreams(): Recording<JsonObject[]>[] {
  const files = filesOf(".chunks.txt").map((name) => ({
    name,
    lines: linesOf(Deno.readTextFileSync(name)),
  }));
  const texts = exchanges().flatMap(({ name, body }) =>
    body.response.text
      ? [{
        name,
        lines: linesOf(body.response.text).filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)),
      }]
      : []
  );
  return [...files, ...texts].flatMap(({ name, lines }) =>
    split(lines.map((line) => JSON.parse(line))).map((body, index) => ({ name: `${name}@${index}`, body }))
  );
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

function split(events: readonly JsonObject[]): JsonObject[][] {
  const streams: JsonObject[][] = [];
  for (const event of events) {
    if (event.type === "response.created") streams.push([]);
    streams.at(-1)?.push(event);
  }
  return streams;
}
