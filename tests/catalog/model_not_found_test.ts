import { assert, assertEquals } from "@std/assert";
import { readAlias } from "../../src/vendors/catalog/alias.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { modelNotFound } from "../../src/vendors/catalog/model_not_found.ts";
import { modelOf } from "./support.ts";

const CATALOG = createCatalog([
  modelOf({ id: "openai/gpt-6" }),
  modelOf({ id: "openai/gpt-6-mini" }),
  modelOf({ id: "openai/gpt-image", image: {} }),
  modelOf({ id: "anthropic/claude-opus-5" }),
  modelOf({ id: "openrouter/meta-llama/llama-4" }),
], {
  aliases: [
    readAlias("claude-opus", { model: "anthropic/claude-opus-5", listed: true }),
    readAlias("claude-secret", "anthropic/claude-opus-5"),
  ],
});

const messageFor = (name: string) => modelNotFound(CATALOG, name, ({ text }) => text).message;

Deno.test("modelNotFound() names the three nearest, by id, last part or listed alias, ignoring case", () => {
  assertEquals(
    messageFor("openai/gpt-66"),
    'Cannot find the model "openai/gpt-66"; the nearest: "openai/gpt-6", "openai/gpt-6-mini", "claude-opus"',
  );
  assertEquals(
    messageFor("CLAUDE-OPUS-6"),
    'Cannot find the model "CLAUDE-OPUS-6"; the nearest: "anthropic/claude-opus-5", "claude-opus", "openai/gpt-6"',
  );
  assert(messageFor("meta-lama/llama-4").includes('the nearest: "openrouter/meta-llama/llama-4"'));
  assertEquals(modelNotFound(CATALOG, "x").details.field, "model");
});

Deno.test("modelNotFound() suggests neither unlisted aliases nor models of other endpoints", () => {
  assert(!messageFor("claude-secret").slice(42).includes("secret"));
  assert(!messageFor("openai/gpt-imag").includes("gpt-image"));
  assert(modelNotFound(CATALOG, "gpt-imag", ({ image }) => image !== null).message.includes('"openai/gpt-image"'));
  assertEquals(modelNotFound(createCatalog([]), "x").message, 'Cannot find the model "x"');
});

Deno.test("modelNotFound() truncates a long name to one line, and compares it with no model", () => {
  const { message } = modelNotFound(CATALOG, `gpt\n${"é".repeat(1_000_000)}`);
  assert(message.length < 200, String(message.length));
  assert(/^[\x20-\x7e]+$/.test(message));
});
