import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { FORMATS, PAIRS } from "../support/formats.ts";
import { outcomeOf } from "./outcome.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const OTHER_PNG = `${PNG.slice(0, -4)}AAA=`;
const PDF = "JVBERi0xLjQ=";

/** A conversation with everything that a format's history can contain, and the marks of its pieces. */
interface History {
  readonly body: JsonObject;
  /** Texts and bytes that occur once, each with the names of which any reports it as dropped. */
  readonly pieces: readonly (readonly [mark: string, ...names: string[]])[];
}

const HISTORIES: Readonly<Record<CallerFormatName, History>> = {
  chat: {
    body: {
      model: "acme/m",
      messages: [
        { role: "system", content: "MARK-system" },
        {
          role: "user",
          name: "MARK-name",
          content: [
            { type: "text", text: "MARK-text" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } },
            { type: "file", file: { filename: "MARK-file.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
          ],
        },
        {
          role: "assistant",
          content: "MARK-answer",
          refusal: "MARK-refusal",
          reasoning_content: "MARK-thought",
          annotations: [{ type: "url_citation", url_citation: { url: "https://MARK-source.example", title: "t" } }],
          tool_calls: [
            { id: "call_a", type: "function", function: { name: "look", arguments: '{"at":"MARK-argument"}' } },
            { id: "call_b", type: "custom", custom: { name: "write", input: "MARK-input" } },
          ],
        },
        { role: "tool", tool_call_id: "call_a", content: "MARK-result" },
        { role: "tool", tool_call_id: "call_b", content: [{ type: "text", text: "MARK-second" }] },
        { role: "developer", content: "MARK-developer" },
        { role: "user", content: "MARK-last" },
      ],
    },
    pieces: [
      ...[
        "system",
        "text",
        "file.pdf",
        "answer",
        "refusal",
        "argument",
        "input",
        "result",
        "second",
        "developer",
        "last",
      ]
        .map((mark) => [`MARK-${mark}`, "messages.content.file.filename"] as const),
      [PNG, "messages.content.image_url"],
      [PDF, "messages.content.file"],
      ["MARK-name", "messages.name"],
      ["MARK-thought", "messages.reasoning_content"],
      ["MARK-source", "messages.annotations"],
    ],
  },
  responses: {
    body: {
      model: "acme/m",
      instructions: "MARK-instructions",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "MARK-text" },
            { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "high" },
            { type: "input_file", filename: "MARK-file.pdf", file_data: `data:application/pdf;base64,${PDF}` },
          ],
        },
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "MARK-thought" }],
          encrypted_content: "MARK-proof",
        },
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "MARK-query" } },
        {
          type: "message",
          role: "assistant",
          id: "msg_1",
          status: "completed",
          content: [
            {
              type: "output_text",
              text: "MARK-answer",
              annotations: [
                { type: "url_citation", url: "https://MARK-source.example", title: "t", start_index: 0, end_index: 4 },
                { type: "file_citation", file_id: "MARK-cited", filename: "f", index: 0 },
              ],
            },
            { type: "refusal", refusal: "MARK-refusal" },
          ],
        },
        { type: "function_call", call_id: "call_a", name: "look", arguments: '{"at":"MARK-argument"}' },
        { type: "custom_tool_call", call_id: "call_b", name: "write", input: "MARK-input" },
        {
          type: "function_call_output",
          call_id: "call_a",
          output: [
            { type: "input_text", text: "MARK-result" },
            { type: "input_image", image_url: `data:image/png;base64,${OTHER_PNG}` },
          ],
        },
        { type: "custom_tool_call_output", call_id: "call_b", output: "MARK-second" },
        { role: "user", content: "MARK-last" },
      ],
    },
    pieces: [
      ...["instructions", "text", "file.pdf", "answer", "refusal", "argument", "input", "result", "second", "last"].map(
        (mark) => [`MARK-${mark}`, "input.content.input_file.filename"] as const,
      ),
      [PNG, "input.content.input_image"],
      [OTHER_PNG, "input.function_call_output.output"],
      [PDF, "input.content.input_file"],
      ["MARK-thought", "input.summary"],
      ["MARK-proof", "input.encrypted_content"],
      ["MARK-query", "input.web_search_call"],
      ["MARK-source", "input.content.output_text.annotations"],
      ["MARK-cited", "input.content.output_text.annotations.file_citation"],
    ],
  },
  messages: {
    body: {
      model: "acme/m",
      max_tokens: 4000,
      system: [{ type: "text", text: "MARK-system", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "MARK-text" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            {
              type: "document",
              title: "MARK-title",
              context: "MARK-context",
              source: { type: "base64", media_type: "application/pdf", data: PDF },
              citations: { enabled: true },
            },
            {
              type: "search_result",
              source: "https://found.example",
              title: "MARK-found",
              content: [{ type: "text", text: "MARK-passage" }],
            },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "MARK-thought", signature: "MARK-proof" },
            { type: "redacted_thinking", data: "MARK-hidden" },
            {
              type: "server_tool_use",
              id: "srvtoolu_1",
              name: "web_fetch",
              input: { url: "https://MARK-fetched.example" },
            },
            { type: "server_tool_use", id: "srvtoolu_2", name: "web_search", input: { query: "MARK-query" } },
            {
              type: "web_search_tool_result",
              tool_use_id: "srvtoolu_2",
              content: [{
                type: "web_search_result",
                url: "https://MARK-page.example",
                title: "t",
                encrypted_content: "MARK-copy",
              }],
            },
            {
              type: "text",
              text: "MARK-answer",
              citations: [{
                type: "web_search_result_location",
                url: "https://MARK-source.example",
                title: "t",
                cited_text: "MARK-cited",
                encrypted_index: "MARK-index",
              }],
            },
            { type: "tool_use", id: "toolu_a", name: "look", input: { at: "MARK-argument" } },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "toolu_a",
              is_error: true,
              content: [
                { type: "text", text: "MARK-result" },
                { type: "image", source: { type: "base64", media_type: "image/png", data: OTHER_PNG } },
              ],
            },
            { type: "text", text: "MARK-last" },
          ],
        },
      ],
    },
    pieces: [
      ...["system", "text", "context", "found", "passage", "answer", "argument", "result", "last"].map((mark) =>
        [`MARK-${mark}`, "-"] as const
      ),
      [PNG, "messages.content.image"],
      [OTHER_PNG, "messages.content.tool_result.content"],
      [PDF, "messages.content.document"],
      ["MARK-title", "messages.content.document.title"],
      ["MARK-thought", "messages.content.thinking.thinking"],
      ["MARK-proof", "messages.content.signature"],
      ["MARK-hidden", "messages.content.redacted_thinking"],
      ["MARK-fetched", "messages.content.server_tool_use"],
      ["MARK-source", "messages.content.text.citations"],
      // Dropped alone or with its citation.
      ["MARK-cited", "messages.content.text.citations.cited_text", "messages.content.text.citations"],
      ["MARK-index", "messages.content.text.citations.encrypted_index", "messages.content.text.citations"],
      ["MARK-query", "messages.content.server_tool_use"],
      ["MARK-page", "messages.content.web_search_tool_result"],
      ["MARK-copy", "messages.content.web_search_tool_result"],
    ],
  },
  content: {
    body: {
      model: "acme/m",
      stream: false,
      systemInstruction: { parts: [{ text: "MARK-system" }] },
      contents: [
        {
          role: "user",
          parts: [
            { text: "MARK-text" },
            { inline_data: { mime_type: "image/png", data: PNG, displayName: "MARK-name" } },
            { inlineData: { mimeType: "application/pdf", data: PDF, displayName: "MARK-file.pdf" } },
          ],
        },
        {
          role: "model",
          parts: [
            { text: "MARK-thought", thought: true },
            { executableCode: { language: "PYTHON", code: "MARK-code" } },
            { codeExecutionResult: { outcome: "OUTCOME_OK", output: "MARK-output" } },
            { text: "MARK-answer", thoughtSignature: "TUFSSy1wcm9vZg==" },
            {
              functionCall: { name: "look", id: "a", args: { at: "MARK-argument" } },
              thoughtSignature: "TUFSSy1zZWNvbmQ=",
            },
          ],
        },
        {
          role: "user",
          parts: [
            {
              functionResponse: {
                name: "look",
                id: "a",
                response: { error: "MARK-result" },
                parts: [{ inlineData: { mimeType: "image/png", data: OTHER_PNG } }],
              },
            },
            { text: "MARK-last", partMetadata: { a: "MARK-metadata" } },
          ],
        },
      ],
    },
    pieces: [
      ...["system", "text", "answer", "argument", "result", "last"].map((mark) => [`MARK-${mark}`, "-"] as const),
      [PNG, "contents.parts.inline_data"],
      [OTHER_PNG, "contents.parts.functionResponse.parts"],
      [PDF, "contents.parts.inlineData"],
      ["MARK-name", "contents.parts.inline_data.displayName"],
      ["MARK-file.pdf", "contents.parts.inlineData.displayName"],
      ["MARK-thought", "contents.parts.thought"],
      ["MARK-code", "contents.parts.executableCode"],
      ["MARK-output", "contents.parts.codeExecutionResult"],
      ["TUFSSy1wcm9vZg==", "contents.parts.thoughtSignature"],
      ["TUFSSy1zZWNvbmQ=", "contents.parts.thoughtSignature"],
      ["MARK-metadata", "contents.parts.partMetadata"],
    ],
  },
};

for (const [from, to] of [...PAIRS, ...FORMATS.map((from) => [from, "converse"] as const)]) {
  Deno.test(`a ${from} history with every kind of piece is sent to ${to} vendors, or reported piece by piece`, async () => {
    const { body, pieces } = HISTORIES[from];
    const outcome = await outcomeOf(from, to, body);
    if (outcome.kind === "refused") throw new Error(outcome.message);
    const { dropped } = outcome;
    // One format has the extension of a document in a member of its own.
    const told = outcome.body.replaceAll(/"format":"pdf","name":"([^"]*)"/g, '$&,"$1.pdf"');
    const lost = pieces.filter(([mark, ...names]) =>
      !told.includes(mark) && !names.some((name) => dropped.includes(name))
    );
    assertEquals(lost, [], dropped.join(", "));
  });
}
