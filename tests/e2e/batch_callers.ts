import Anthropic, { toFile as toAnthropicFile } from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { assert, assertEquals } from "@std/assert";
import { stateOf } from "../support/patience.ts";

/** Where a client sends its requests. */
export interface BatchTarget {
  readonly address: string;
  readonly key: string;
  /** A folder for downloads. */
  readonly folder: string;
  readonly model: string;
}

/** What a client shows of one request of a batch. */
export interface BatchedReply {
  readonly id: string;
  readonly text: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** An official client that stores files and runs a batch of questions. */
export interface BatchCaller {
  readonly name: string;
  /** Returns the replies by any order. */
  run(target: BatchTarget, questions: ReadonlyMap<string, string>): Promise<BatchedReply[]>;
}

const MAX_TOKENS = 400;

/** A value that the client must show. */
function shown<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("The client does not show it");
  return value;
}

/** The clients, each with all its functions for batches and files. */
export const BATCH_CALLERS: readonly BatchCaller[] = [
  { name: "openai: files, uploads, batches", run: runOpenAi },
  { name: "@anthropic-ai/sdk: beta.files, messages.batches", run: runAnthropic },
  { name: "@google/genai: files, batches of a file", run: runGoogleFile },
  { name: "@google/genai: batches of a list", run: runGoogleList },
];

async function runOpenAi(
  { address, key, model }: BatchTarget,
  questions: ReadonlyMap<string, string>,
): Promise<BatchedReply[]> {
  const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });
  const lines = [...questions].map(([id, content]) => ({
    custom_id: id,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model, messages: [{ role: "user", content }], max_completion_tokens: MAX_TOKENS },
  }));
  const bytes = new TextEncoder().encode(lines.map((line) => JSON.stringify(line)).join("\n"));
  const upload = await client.uploads.create({
    filename: "in.jsonl",
    purpose: "batch",
    bytes: bytes.length,
    mime_type: "application/jsonl",
  });
  const ids: string[] = [];
  for (const part of [bytes.slice(0, 100), bytes.slice(100)]) {
    ids.push((await client.uploads.parts.create(upload.id, { data: await toFile(part, "part") })).id);
  }
  const { file } = await client.uploads.complete(upload.id, { part_ids: ids });
  const created = await client.batches.create({
    input_file_id: shown(file).id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  const look = () => client.batches.retrieve(created.id);
  const batch = await stateOf("the batch has ended", look, ({ status }) => !/progress|finalizing/.test(status));
  assertEquals(batch.status, "completed");
  assertEquals((await client.batches.list()).data.map(({ id }) => id).includes(batch.id), true);
  const output = await client.files.retrieve(shown(batch.output_file_id));
  const text = await (await client.files.content(output.id)).text();
  await client.files.delete(output.id);
  return text.trimEnd().split("\n").map((line) => {
    const { custom_id: id, response: { body: { choices: [choice], usage } } } = JSON.parse(line);
    return {
      id,
      text: choice.message.content,
      promptTokens: usage.prompt_tokens,
      outputTokens: usage.completion_tokens,
    };
  });
}

async function runAnthropic(
  { address, key, model }: BatchTarget,
  questions: ReadonlyMap<string, string>,
): Promise<BatchedReply[]> {
  const client = new Anthropic({ baseURL: `${address}/msgcompat`, apiKey: key, maxRetries: 0 });
  const file = await client.beta.files.upload({ file: await toAnthropicFile(new Uint8Array(9), "a.bin") });
  assertEquals((await client.beta.files.retrieveMetadata(file.id)).size_bytes, 9);
  assertEquals((await client.beta.files.list()).data.map(({ id }) => id).includes(file.id), true);
  await client.beta.files.delete(file.id);
  const { id } = await client.messages.batches.create({
    requests: [...questions].map(([id, content]) => ({
      custom_id: id,
      params: { model, max_tokens: MAX_TOKENS, messages: [{ role: "user", content }] },
    })),
  });
  const look = () => client.messages.batches.retrieve(id);
  await stateOf("the batch has ended", look, ({ processing_status: status }) => status === "ended");
  assertEquals((await client.messages.batches.list()).data[0]?.id, id);
  const replies: BatchedReply[] = [];
  for await (const { custom_id, result } of await client.messages.batches.results(id)) {
    assert(result.type === "succeeded", JSON.stringify(result));
    const { content, usage } = result.message;
    const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
    replies.push({
      id: custom_id,
      text: content.flatMap((block) => block.type === "text" ? [block.text] : []).join(""),
      promptTokens: usage.input_tokens + (read ?? 0) + (written ?? 0),
      outputTokens: usage.output_tokens,
    });
  }
  await client.messages.batches.delete(id);
  return replies;
}

function googleClient({ address, key }: BatchTarget): GoogleGenAI {
  return new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${address}/gencompat` } });
}

async function runGoogleFile(target: BatchTarget, questions: ReadonlyMap<string, string>): Promise<BatchedReply[]> {
  const client = googleClient(target);
  const lines = [...questions].map(([key, text]) => ({
    key,
    request: { contents: [{ role: "user", parts: [{ text }] }], generationConfig: { maxOutputTokens: MAX_TOKENS } },
  }));
  const file = await client.files.upload({
    file: new Blob([lines.map((line) => JSON.stringify(line)).join("\n")]),
    config: { mimeType: "application/jsonl", displayName: "in" },
  });
  const created = await client.batches.create({ model: target.model, src: shown(file.name) });
  const job = await endedJob(client, shown(created.name));
  const fileName = shown(job.dest?.fileName);
  const downloadPath = `${target.folder}/out.jsonl`;
  await client.files.download({ file: fileName, downloadPath });
  for (const name of [fileName, shown(file.name)]) await client.files.delete({ name });
  return (await Deno.readTextFile(downloadPath)).trimEnd().split("\n").map((line) => {
    const { key: id, response } = JSON.parse(line);
    return googleReply(id, response);
  });
}

async function runGoogleList(target: BatchTarget, questions: ReadonlyMap<string, string>): Promise<BatchedReply[]> {
  const client = googleClient(target);
  const created = await client.batches.create({
    model: target.model,
    src: [...questions].map(([key, text]) => ({
      contents: [{ role: "user", parts: [{ text }] }],
      config: { maxOutputTokens: MAX_TOKENS },
      metadata: { key },
    })),
  });
  const name = shown(created.name);
  const job = await endedJob(client, name);
  assertEquals((await client.batches.list()).page[0]?.name, name);
  await client.batches.delete({ name });
  return shown(job.dest?.inlinedResponses).map(({ metadata, response }) =>
    googleReply(shown(metadata?.key), shown(response))
  );
}

async function endedJob(client: GoogleGenAI, name: string) {
  const look = () => client.batches.get({ name });
  const job = await stateOf("the batch has ended", look, ({ state = "" }) => !/PENDING|RUNNING/.test(state));
  assertEquals(job.state, "JOB_STATE_SUCCEEDED");
  return job;
}

interface GoogleReply {
  readonly candidates?: readonly { readonly content?: { readonly parts?: readonly Part[] } }[];
  readonly usageMetadata?: {
    readonly promptTokenCount?: number;
    readonly candidatesTokenCount?: number;
    readonly thoughtsTokenCount?: number;
  };
}

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
}

function googleReply(id: string, { candidates = [], usageMetadata: usage = {} }: GoogleReply): BatchedReply {
  const parts = candidates[0]?.content?.parts ?? [];
  return {
    id,
    text: parts.flatMap(({ text = "", thought }) => thought ? [] : [text]).join(""),
    promptTokens: usage.promptTokenCount ?? 0,
    outputTokens: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
  };
}
