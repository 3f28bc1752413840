import { assertEquals } from "@std/assert";
import { readChecked } from "../../src/conversation/contract/caller_format.ts";
import type { Conversation } from "../../src/conversation/neutral/conversation.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { CODECS, TARGETS } from "../support/formats.ts";

const ADDED = "input.additional_tools.tools";

Deno.test("a search that an additional_tools item offers is the request's search", () => {
  const tools = [{ type: "function", name: "look" }, { type: "web_search", search_context_size: "low" }];
  const input = [{ type: "message", role: "user", content: "Hi" }, { type: "additional_tools", tools }];
  const { webSearch, tools: read, unsupportedFields } = responses({ input });
  assertEquals([webSearch?.field, webSearch?.name, webSearch?.contextSize], [
    "input[1].tools[1]",
    `${ADDED}.web_search`,
    "low",
  ]);
  assertEquals(webSearch?.names.contextSize, `${ADDED}.web_search.search_context_size`);
  assertEquals([read.map(({ name }) => name), unsupportedFields], [["look"], []]);
  assertEquals(responses({ input, tool_choice: "required" }).webSearch?.isForced, false);
  const alone = [input[0], { type: "additional_tools", tools: [{ type: "web_search" }] }];
  assertEquals(responses({ input: alone, tool_choice: "required" }).webSearch?.isForced, true);
});

Deno.test("of several searches the first is read, and the others are reported with their path", () => {
  const input = [
    { type: "message", role: "user", content: "Hi" },
    { type: "additional_tools", tools: [{ type: "web_search_preview" }] },
  ];
  const namespace = { type: "namespace", name: "n", description: "", tools: [{ type: "web_search" }] };
  const { webSearch, unsupportedFields } = responses({ input, tools: [namespace, { type: "web_search" }] });
  assertEquals(webSearch?.field, "tools[1]");
  assertEquals(unsupportedFields, ["tools.tools.web_search", `${ADDED}.web_search_preview`]);
});

Deno.test("chat vendors report no pages of a search: the field that requests them is reported", () => {
  const include = ["reasoning.encrypted_content", "web_search_call.action.sources"];
  const asked = responses({ input: "Hi", tools: [{ type: "web_search" }], include });
  const plain = responses({ input: "Hi", tools: [{ type: "web_search" }] });
  assertEquals([asked, plain].map((each) => lossesOf(each, "chat")), [["include"], []]);
  assertEquals([lossesOf(asked, "messages"), lossesOf(asked, "content")], [[], []]);
});

Deno.test("results of a search without a call are reported", () => {
  const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
  const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } };
  assertEquals(messages([found]).unsupportedFields, ["messages.content.web_search_tool_result"]);
  assertEquals(messages([call, found]).unsupportedFields, []);
});

Deno.test("a citation for a responses vendor loses its cited text and the vendor's signature", () => {
  const cited = { type: "web_search_result_location", url: "https://a.example", title: "A" };
  const droppedFields = (citation: JsonObject) =>
    lossesOf(messages([{ type: "text", text: "So it is", citations: [{ ...cited, ...citation }] }]), "responses");
  assertEquals(droppedFields({ cited_text: "It is", encrypted_index: "e" }), ["cited_text", "citation_mark"]);
  assertEquals(droppedFields({ cited_text: "", encrypted_index: "" }), []);
});

function responses(body: JsonObject): Conversation {
  return readChecked(CODECS.responses.caller, { model: "acme/m", ...body });
}

function messages(content: readonly JsonObject[]): Conversation {
  const said = [{ role: "user", content: "Hi" }, { role: "assistant", content }, { role: "user", content: "Go on" }];
  return readChecked(CODECS.messages.caller, { model: "acme/m", max_tokens: 100, messages: said });
}

function lossesOf(conversation: Conversation, to: "chat" | "responses" | "messages" | "content"): readonly string[] {
  return CODECS[to].upstream.writeRequest(conversation, { ...TARGETS[to], hasWebSearch: true }).droppedFields;
}
