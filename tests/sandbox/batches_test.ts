import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { ManualClock } from "../support/manual_clock.ts";
import { present } from "../support/items.ts";
import { inSandbox } from "./support.ts";

const encoder = new TextEncoder();

function chatLine(id: string, text: string, fields: Readonly<Record<string, unknown>> = {}) {
  const body = { model: "sandbox/chat-1", messages: [{ role: "user", content: text }] };
  return JSON.stringify({ custom_id: id, method: "POST", url: "/v1/chat/completions", body, ...fields });
}

async function uploaded(client: OpenAI, text: string): Promise<string> {
  return (await client.files.create({ file: await toFile(encoder.encode(text), "in.jsonl"), purpose: "batch" })).id;
}

const CHAT_BATCH = { endpoint: "/v1/chat/completions", completion_window: "24h" } as const;

Deno.test("openai sandbox: the vendor's client stores a file, runs its lines as a batch, and removes it", async () => {
  const clock = new ManualClock();
  await inSandbox(async ({ openai }) => {
    const lines = [chatLine("a", "One"), chatLine("b", "[[fail 400]] Two"), chatLine("c", "[[batch wait 1000]]")];
    const input = await uploaded(openai, lines.join("\n"));
    assertEquals((await openai.files.retrieve(input)).purpose, "batch");
    const made = await openai.batches.create({ ...CHAT_BATCH, input_file_id: input, metadata: { order: "1" } });
    assertEquals([made.status, made.metadata], ["in_progress", { order: "1" }]);
    clock.advance(1_000);
    const batch = await openai.batches.retrieve(made.id);
    assertEquals(batch.status, "completed");
    const read = async (id: string | null | undefined) =>
      (await (await openai.files.content(id ?? "")).text()).trimEnd().split("\n").map((line) => JSON.parse(line));
    const [third, first] = await read(batch.output_file_id);
    assertEquals([first.custom_id, third.custom_id], ["a", "c"]);
    assertEquals(first.response.body.choices[0].message.content, "You said: One");
    assertEquals((await read(batch.error_file_id)).map((line) => line.response.status_code), [400]);
    assertEquals((await openai.batches.list()).data.map(({ id }) => id), [made.id]);
    await openai.files.delete(input);
    await assertRejects(() => openai.files.retrieve(input), OpenAI.NotFoundError);
  }, { clock });
});

Deno.test("openai sandbox: a batch that the vendor refuses, and files with mistakes, name the mistake", async () => {
  await inSandbox(async ({ openai }) => {
    const input = await uploaded(openai, chatLine("a", "One"));
    const refused = (fields: object) =>
      assertRejects(
        () => openai.batches.create({ ...CHAT_BATCH, input_file_id: input, ...fields }),
        OpenAI.BadRequestError,
      );
    assertEquals((await refused({ completion_window: "1h" })).param, "completion_window");
    assertEquals((await refused({ endpoint: "/v1/none" })).param, "endpoint");
    assertEquals((await refused({ metadata: { a: 1 } })).param, "metadata");
    const file = await toFile(encoder.encode("x"), "in.jsonl");
    const other = await openai.files.create({ file, purpose: "user_data" });
    assertEquals((await refused({ input_file_id: other.id })).param, "input_file_id");
    const model = { body: { model: "other", messages: [] } };
    const cases: [string, string][] = [
      ["{", "invalid_json_line"],
      [[chatLine("a", "One"), chatLine("a", "Two")].join("\n"), "duplicate_custom_id"],
      [chatLine("a", "One", { url: "/v1/embeddings" }), "invalid_url"],
      [[chatLine("a", "One"), chatLine("b", "Two", model)].join("\n"), "mismatched_model"],
    ];
    for (const [text, code] of cases) {
      const batch = await openai.batches.create({ ...CHAT_BATCH, input_file_id: await uploaded(openai, text) });
      assertEquals([batch.status, batch.errors?.data?.[0]?.code], ["failed", code]);
    }
    const embeddings = chatLine("a", "", {
      url: "/v1/embeddings",
      body: { model: "e", input: Array(50_001).fill("a") },
    });
    const large = await openai.batches.create({
      completion_window: "24h",
      endpoint: "/v1/embeddings",
      input_file_id: await uploaded(openai, embeddings),
    });
    assertEquals([large.status, large.errors?.data?.[0]?.code], ["failed", "too_many_tasks"]);
  });
});

const params = (text: string) => ({
  model: "sandbox/messages-1",
  max_tokens: 50,
  messages: [{ role: "user" as const, content: text }],
});

Deno.test("anthropic sandbox: the vendor's client creates a batch, reads its results, cancels and deletes", async () => {
  const clock = new ManualClock();
  await inSandbox(async ({ anthropic }) => {
    const { batches } = anthropic.messages;
    const made = await batches.create({
      requests: [
        { custom_id: "a", params: params("One") },
        { custom_id: "b", params: params("[[fail 400]] Two") },
        { custom_id: "c", params: params("[[batch wait 1000]] Three") },
      ],
    });
    assertEquals([made.processing_status, made.request_counts.processing], ["in_progress", 3]);
    await assertRejects(() => batches.delete(made.id), Anthropic.BadRequestError);
    clock.advance(1_000);
    assertEquals((await batches.retrieve(made.id)).request_counts, {
      processing: 0,
      succeeded: 2,
      errored: 1,
      canceled: 0,
      expired: 0,
    });
    const results = new Map<string, string>();
    for await (const { custom_id: id, result } of await batches.results(made.id)) {
      results.set(id, result.type);
      if (result.type === "succeeded") assertEquals(result.message.usage.service_tier, "batch");
    }
    assertEquals([...results].sort(), [["a", "succeeded"], ["b", "errored"], ["c", "succeeded"]]);
    await batches.delete(made.id);
    await assertRejects(() => batches.retrieve(made.id), Anthropic.NotFoundError);
    const cancelled = await batches.create({ requests: [{ custom_id: "a", params: params("[[batch wait 9999]]") }] });
    assertEquals((await batches.cancel(cancelled.id)).processing_status, "canceling");
    clock.advance(1_000);
    assertEquals((await batches.retrieve(cancelled.id)).request_counts.canceled, 1);
    assertEquals((await batches.list()).data.map(({ id }) => id), [cancelled.id]);
  }, { clock });
});

Deno.test("anthropic sandbox: ids of lines that the vendor does not take, and streams, are refused", async () => {
  await inSandbox(async ({ anthropic }) => {
    const cases: [readonly Record<string, unknown>[], string][] = [
      [[], "requests: List should have at least 1 item"],
      [[{ custom_id: "a b", params: params("One") }], "requests.0.custom_id"],
      [[{ custom_id: "a", params: params("One") }, { custom_id: "a", params: params("Two") }], "requests.1.custom_id"],
      [[{ custom_id: "a", params: { ...params("One"), stream: true } }], "requests.0.params.stream"],
    ];
    for (const [requests, message] of cases) {
      const error = await assertRejects(
        () => anthropic.post("/v1/messages/batches", { body: { requests } }),
        Anthropic.BadRequestError,
      );
      assertStringIncludes(error.message, message);
    }
  });
});

Deno.test("google sandbox: the vendor's client runs a batch of a file and one of its body, and deletes them", async () => {
  await inSandbox(async ({ google, sandbox }) => {
    const line = (key: string, text: string) =>
      JSON.stringify({ key, request: { contents: [{ role: "user", parts: [{ text }] }] } });
    const text = [line("a", "One"), line("b", "[[fail 400]] Two")].join("\n");
    const file = await google.files.upload({
      file: new Blob([text], { type: "application/jsonl" }),
      config: { mimeType: "application/jsonl" },
    });
    const model = "content-1";
    const made = await google.batches.create({ model, src: present(file.name, "name"), config: { displayName: "x" } });
    const batch = await google.batches.get({ name: present(made.name, "name") });
    assertEquals([batch.state, batch.displayName], ["JOB_STATE_SUCCEEDED", "x"]);
    const output = present(batch.dest?.fileName, "file");
    const response = await fetch(`${sandbox.baseUrls.google}/download/v1beta/${output}:download?alt=media&key=sandbox`);
    const results = (await response.text()).trimEnd().split("\n").map((each) => JSON.parse(each));
    assertEquals(results.map(({ key, error }) => [key, error?.code ?? null]), [["b", 3], ["a", null]]);
    const names: string[] = [];
    for await (const { name } of await google.batches.list()) names.push(present(name, "name"));
    assertEquals(names, [made.name]);
    await google.batches.delete({ name: present(made.name, "name") });
    await google.files.delete({ name: present(file.name, "name") });
    const gone = await fetch(`${sandbox.baseUrls.google}/v1beta/${made.name}?key=sandbox`);
    assert(!gone.ok);
    await gone.body?.cancel();
  });
});
