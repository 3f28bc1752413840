import type Anthropic from "@anthropic-ai/sdk";
import { assertEquals } from "@std/assert";
import { capabilitiesOf, claudeFamilyOf } from "../../../src/protocols/message/capabilities.ts";
import { modelOf } from "../../catalog/support.ts";

/** The names of a model's capabilities; groups as `effort: low high`. */
function supported(model: ReturnType<typeof modelOf>, passes: boolean, searches = false): string[] {
  const capabilities: Anthropic.ModelCapabilities = capabilitiesOf(model, { passes, searches });
  return Object.entries(capabilities).flatMap(([name, { supported, types, ...rest }]) => {
    const members = Object.entries<{ supported: boolean }>(types ?? rest).filter(([, each]) => each.supported);
    return supported ? [[name, ...members.map(([member]) => member)].join(" ")] : [];
  });
}

const vision = { input_modalities: ["text", "image"] };

Deno.test("capabilities of a translated model come from its catalog entry", () => {
  const plain = modelOf({ id: "a/plain" });
  assertEquals(supported(plain, false), []);
  assertEquals(supported(plain, false, true), ["server_tools web_search"]);
  assertEquals(capabilitiesOf(plain, { passes: false, searches: false }).thinking.types.disabled, { supported: true });
  const able = modelOf({
    id: "a/able",
    architecture: { input_modalities: ["text", "image", "file"] },
    supported_parameters: ["reasoning", "response_format"],
  });
  assertEquals(supported(able, false), [
    "effort low medium high xhigh max",
    "image_input",
    "pdf_input",
    "structured_outputs",
    "thinking adaptive disabled enabled",
  ]);
});

Deno.test("capabilities of a Claude model behind its own protocol are those of its version", () => {
  const claude = (name: string) => modelOf({ id: `anthropic/${name}`, architecture: vision });
  const current = [
    "citations",
    "code_execution",
    "context_management clear_thinking_20251015 clear_tool_uses_20250919 compact_20260112",
    "effort low medium high xhigh max",
    "image_input",
    "pdf_input",
    "server_tools code_execution web_search",
    "structured_outputs",
  ];
  assertEquals(supported(claude("claude-opus-5-5"), true), [...current, "thinking adaptive"]);
  assertEquals(supported(claude("claude-fable-5-1"), true), [...current, "thinking adaptive"]);
  assertEquals(supported(claude("claude-opus-4-8"), true), [...current, "thinking adaptive disabled"]);
  assertEquals(supported(claude("claude-haiku-4-5"), true), [
    "citations",
    "code_execution",
    "context_management clear_thinking_20251015 clear_tool_uses_20250919",
    "image_input",
    "pdf_input",
    "server_tools code_execution web_search",
    "structured_outputs",
    "thinking disabled enabled",
  ]);
  assertEquals(supported(claude("claude-sonnet-4-6"), true).filter((each) => /^(effort|thinking)/.test(each)), [
    "effort low medium high max",
    "thinking adaptive disabled enabled",
  ]);
});

Deno.test("a Claude model that some provider serves in another protocol counts as translated", () => {
  const model = modelOf({ id: "anthropic/claude-opus-5", architecture: vision, supported_parameters: ["reasoning"] });
  assertEquals(supported(model, false), [
    "effort low medium high xhigh max",
    "image_input",
    "thinking adaptive disabled enabled",
  ]);
  const serves = [{ provider: "one", model: "claude-opus-5" }, { provider: "two", model: "glm-5.3" }];
  assertEquals(supported(modelOf({ id: "a/mixed", serves }), true), []);
});

Deno.test("the family of a Claude model is named, others have none", () => {
  const lines = [
    "claude-opus-5-5",
    "claude-haiku-4-5",
    "claude-3-5-sonnet-latest",
    "claude-fable-5-1",
    "gpt-6",
    "claude-x-1",
  ];
  assertEquals(lines.map((name) => claudeFamilyOf(modelOf({ id: `a/${name}` }))), [
    "opus",
    "haiku",
    "sonnet",
    "fable",
    null,
    null,
  ]);
});
