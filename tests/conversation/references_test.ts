import { CODECS } from "../support/formats.ts";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { referencesIn } from "../../src/conversation/contract/references.ts";
import { camelCaseOf } from "../../src/conversation/contract/request_walk.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";

/** Kinds, ids and fields, one per line. */
function linesOf(form: CallerFormatName, body: JsonObject): string[] {
  return referencesIn(CODECS[form].caller.grammar, body).map(({ kind, id, field }) => `${kind} ${id} at ${field}`);
}

const user = (...content: unknown[]) => ({ role: "user", content });

const CASES: readonly (readonly [name: string, form: CallerFormatName, body: JsonObject, lines: readonly string[]])[] =
  [
    ["nothing in plain text that looks like one", "responses", {
      input: [user({ type: "input_text", text: "gs://bucket/x file_id previous_response_id" })],
      instructions: "asset://x",
      metadata: { file_id: "file-1" },
      tools: [{ type: "function", name: "f", parameters: { properties: { file_id: { const: "x" } }, file_id: "y" } }],
    }, []],
    ["the state of responses", "responses", {
      previous_response_id: "resp_1",
      conversation: { id: "conv_1" },
      prompt: { id: "pmpt_1", variables: { paper: { type: "input_file", file_id: "file-v" } } },
    }, [
      "response resp_1 at previous_response_id",
      "conversation conv_1 at conversation.id",
      "prompt pmpt_1 at prompt.id",
      "file file-v at prompt.variables.paper.file_id",
    ]],
    ["a conversation by its id", "responses", { conversation: "conv_1" }, ["conversation conv_1 at conversation"]],
    ["items that a vendor looks up", "responses", {
      input: [
        { type: "item_reference", id: "msg_1" },
        { id: "msg_2" },
        { type: "reasoning", id: "rs_1", summary: [] },
        { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "x" },
        { type: "message", id: "msg_3", role: "assistant", content: [] },
        { id: "msg_4", role: "assistant", content: "x" },
        { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "" },
        { type: "function_call_output", id: "fco_1", call_id: "c", output: "" },
        { type: "compaction_note", id: "cn_1", text: "x" },
        { type: "image_generation_call", id: "ig_1" },
        { type: "image_generation_call", id: "ig_2", result: "AAAA" },
        { type: "web_search_call", id: "ws_1", status: "completed" },
        { type: "code_interpreter_call", id: "ci_1", container_id: "cntr_1" },
        { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
      ],
    }, [
      "container cntr_1 at input[12].container_id",
      "item mcpr_1 at input[13].approval_request_id",
      "item msg_1 at input[0].id",
      "item msg_2 at input[1].id",
      "item rs_1 at input[2].id",
      "item ig_1 at input[9].id",
      "item ws_1 at input[11].id",
      "item ci_1 at input[12].id",
    ]],
    ["files in messages, outputs and tools", "responses", {
      input: [
        user({ type: "input_file", file_id: "file-1" }, { type: "input_image", file_id: "file-2" }),
        { type: "function_call_output", call_id: "c", output: [{ type: "input_file", file_id: "file-3" }] },
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "", annotations: [{ type: "file_citation", file_id: "file-cited" }] }],
        },
        { type: "additional_tools", tools: [{ type: "file_search", vector_store_ids: ["vs_2"] }] },
      ],
      tools: [
        { type: "file_search", vector_store_ids: ["vs_1", null, 7] },
        { type: "code_interpreter", container: "cntr_1" },
        { type: "code_interpreter", container: { type: "auto", file_ids: ["file-4", "file-5"] } },
        { type: "image_generation", input_image_mask: { file_id: "file-6" } },
        { type: "mcp", server_url: "https://example.com" },
        { type: "shell", environment: { skills: [{ type: "skill_reference", skill_id: "skill_1" }] } },
      ],
    }, [
      "file file-1 at input[0].content[0].file_id",
      "file file-2 at input[0].content[1].file_id",
      "file file-3 at input[1].output[0].file_id",
      "vector_store vs_2 at input[3].tools[0].vector_store_ids[0]",
      "vector_store 7 at tools[0].vector_store_ids[2]",
      "vector_store vs_1 at tools[0].vector_store_ids[0]",
      "container cntr_1 at tools[1].container",
      "file file-4 at tools[2].container.file_ids[0]",
      "file file-5 at tools[2].container.file_ids[1]",
      "file file-6 at tools[3].input_image_mask.file_id",
      "skill skill_1 at tools[5].environment.skills[0].skill_id",
    ]],
    ["ids that are no text", "responses", { previous_response_id: ["resp_1"], input: [{ id: 7 }] }, [
      "response resp_1 at previous_response_id[0]",
      "item 7 at input[0].id",
    ]],
    ["addresses of the chat format", "chat", {
      messages: [
        { role: "system", content: "fileid://file-a,fileid://file-b" },
        user(
          { type: "image_url", image_url: { url: " GS://bucket/a.png" } },
          { type: "image_url", image_url: "asset://a" },
          { type: "video_url", video_url: { url: "mm_file://1" } },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "video", video: ["oss://b/1", "s3://b/2"] },
          { type: "file", file: { file_id: "file-1" } },
          { type: "text", text: "gs://bucket/a.png" },
          { type: "image", source: "tos://b/3" },
        ),
        { role: "assistant", audio: { id: "audio_1" } },
      ],
      audio: { voice: { id: "voice_1" }, format: "wav" },
      extra_body: { cached_content: "cachedContents/1", file_id: "x" },
      extraBody: { file_id: "file-2" },
    }, [
      "bucket  GS://bucket/a.png at messages[1].content[0].image_url.url",
      "asset asset://a at messages[1].content[1].image_url",
      "asset mm_file://1 at messages[1].content[2].video_url.url",
      "address https://example.com/a.png at messages[1].content[3].image_url.url",
      "bucket oss://b/1 at messages[1].content[5].video[0]",
      "bucket s3://b/2 at messages[1].content[5].video[1]",
      "file file-1 at messages[1].content[6].file.file_id",
      "bucket tos://b/3 at messages[1].content[8].source",
      "audio audio_1 at messages[2].audio.id",
      "voice voice_1 at audio.voice.id",
      "file file-2 at extraBody.file_id",
      "file file-a at messages[0].content",
      "file file-b at messages[0].content",
      "cached_content cachedContents/1 at extra_body.cached_content",
    ]],
    ["the messages format", "messages", {
      container: {
        id: "container_1",
        skills: [{ type: "anthropic", skill_id: "pptx" }, { type: "custom", skill_id: "s" }],
      },
      messages: [
        user(
          { type: "document", source: { type: "file", file_id: "file_1" } },
          { type: "container_upload", file_id: "file_2" },
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          { type: "tool_result", content: [{ type: "image", source: { type: "file", file_id: "file_3" } }] },
        ),
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "t", name: "f", input: { file_id: "own", url: "gs://x" } }],
        },
      ],
    }, [
      "container container_1 at container.id",
      "skill s at container.skills[1].skill_id",
      "file file_1 at messages[0].content[0].source.file_id",
      "file file_2 at messages[0].content[1].file_id",
      "address https://example.com/a.png at messages[0].content[2].source.url",
      "file file_3 at messages[0].content[3].content[0].source.file_id",
    ]],
    ["the content format", "content", {
      cached_content: "cachedContents/1",
      contents: [{
        parts: [
          { fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/abc" } },
          { file_data: { file_uri: "files/abc" } },
          { fileData: { fileUri: "HTTPS://Generativelanguage.GoogleAPIs.com.:443/v1/files/d" } },
          { fileData: { fileUri: "gs://bucket/x" } },
          { fileData: { fileUri: "https://youtu.be/abc" } },
          {
            functionResponse: {
              name: "f",
              response: { fileUri: "gs://own" },
              parts: [{ fileData: { fileUri: "s3://b/x" } }],
            },
          },
          { functionCall: { name: "f", args: { file_id: "own" } } },
          { text: "gs://bucket/x" },
        ],
      }],
      tools: [{ fileSearch: { fileSearchStoreNames: ["fileSearchStores/1"] } }],
    }, [
      "cached_content cachedContents/1 at cached_content",
      "file https://generativelanguage.googleapis.com/v1beta/files/abc at contents[0].parts[0].fileData.fileUri",
      "file files/abc at contents[0].parts[1].file_data.file_uri",
      "file HTTPS://Generativelanguage.GoogleAPIs.com.:443/v1/files/d at contents[0].parts[2].fileData.fileUri",
      "bucket gs://bucket/x at contents[0].parts[3].fileData.fileUri",
      "address https://youtu.be/abc at contents[0].parts[4].fileData.fileUri",
      "bucket s3://b/x at contents[0].parts[5].functionResponse.parts[0].fileData.fileUri",
      "vector_store fileSearchStores/1 at tools[0].fileSearch.fileSearchStoreNames[0]",
    ]],
  ];

for (const [name, form, body, lines] of CASES) {
  Deno.test(`referencesIn() finds ${name}`, () => assertEquals(linesOf(form, body), lines));
}

Deno.test("camelCaseOf() is idempotent", () => {
  const key = fc.stringMatching(/^[a-zA-Z_0-9]{0,16}$/);
  fc.assert(fc.property(key, (each) => assertEquals(camelCaseOf(camelCaseOf(each)), camelCaseOf(each))));
});

Deno.test("referencesIn() finds the same in either spelling of the content format", () => {
  const uri = fc.constantFrom("gs://b/x", "files/a", "https://youtu.be/a", "asset://x");
  const part = fc.record({ fileData: fc.record({ fileUri: uri, mimeType: fc.constant("a/b") }) });
  const body = fc.record({
    cachedContent: fc.constantFrom("", "cachedContents/1"),
    contents: fc.array(fc.record({ parts: fc.array(part, { maxLength: 3 }) }), { maxLength: 3 }),
  });
  fc.assert(fc.property(body, (sent) => {
    const kindsOf = (each: JsonObject) =>
      referencesIn(CODECS.content.caller.grammar, each).map(({ kind, id }) => `${kind} ${id}`);
    assertEquals(kindsOf(snakeCased(sent) as JsonObject), kindsOf(sent));
  }));
});

function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== "object" || value === null) return value;
  const snake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snake(key), snakeCased(inner)]));
}

Deno.test("referencesIn() rejects checked names in another case where vendors look for them, and nowhere else", () => {
  const path = (error: unknown) => (error as { details?: { field?: string } }).details?.field;
  const refusedAt = (body: JsonObject) => {
    try {
      referencesIn(CODECS.responses.caller.grammar, body);
      return null;
    } catch (error) {
      return path(error);
    }
  };
  assertEquals(refusedAt({ input: [user({ type: "input_file", File_Id: "file-1" })] }), "input[0].content[0].File_Id");
  assertEquals(refusedAt({ Previous_response_id: "resp_1" }), "Previous_response_id");
  assertEquals(refusedAt({ "bac\u212Aground": true }), "bac\u212Aground");
  const own = { metadata: { ID: "1" }, x_own: { ID: 1, N: 2 }, prompt: { id: "p", variables: { ID: "x", Type: "y" } } };
  assertEquals(refusedAt(own), null);
});
