import { assertEquals } from "@std/assert";
import { devConfig } from "../../src/config/dev_config.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { environmentOf } from "./support.ts";

const SANDBOX = {
  openai: "http://127.0.0.1:4001/openai/v1",
  anthropic: "http://127.0.0.1:4001/anthropic",
  google: "http://127.0.0.1:4001/google",
  bedrock: "http://127.0.0.1:4001/bedrock",
  ark: "http://127.0.0.1:4001/ark/api/v3",
  bfl: "http://127.0.0.1:4001/bfl/v1",
  kling: "http://127.0.0.1:4001/kling",
  fal: "http://127.0.0.1:4001/fal",
  replicate: "http://127.0.0.1:4001/replicate/v1",
  openrouter: "http://127.0.0.1:4001/openrouter/api/v1",
  runway: "http://127.0.0.1:4001/runway",
  azure: "http://127.0.0.1:4001/azure",
  xai: "http://127.0.0.1:4001/xai/v1",
  alibaba: "http://127.0.0.1:4001/alibaba",
  deepseek: "http://127.0.0.1:4001/deepseek/v1",
  moonshot: "http://127.0.0.1:4001/moonshot/v1",
  zai: "http://127.0.0.1:4001/zai/v1",
  groq: "http://127.0.0.1:4001/groq/v1",
  mistral: "http://127.0.0.1:4001/mistral/v1",
  cohere: "http://127.0.0.1:4001/cohere/v1",
};

/** Vendors that are spoken to by a kind of another name. */
const KIND_OF: Readonly<Record<string, string>> = {
  openrouter: "openai",
  azure: "openai",
  alibaba: "openai",
  deepseek: "openai",
  moonshot: "openai",
  zai: "openai",
  groq: "openai",
  mistral: "openai",
  cohere: "openai",
};

/** What follows the address of a simulated vendor. */
const PATH_OF: Readonly<Record<string, string>> = { azure: "/openai/v1", alibaba: "/compatible-mode/v1" };

const FAMILIES = [
  ...["gpt-4.1", "gpt-5", "gpt-5.4", "gpt-5.5", "gpt-5.6-terra", "gpt-6-sol", "gpt-6.2-sol", "gpt-6.1-sol"],
  ...["chat-only-gpt-6-sol", "claude-fable-5-2", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"],
  ...["claude-opus-5", "claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5", "gemini-4-argon", "gemini-4-neon"],
  ...["gemini-3.8-flash", "gemini-3.6-flash", "gemini-2.5-flash-lite", "grok-4.7", "qwen3.8-max", "deepseek-v4-pro"],
  ...["kimi-k3", "glm-5.3", "gpt-oss-120b", "mistral-large-4", "command-a-03-2025"],
].map((name) => `sandbox/${name}`);

Deno.test("devConfig() serves priced models from the sandbox and funds a demo account", () => {
  const { config } = devConfig({ sandbox: SANDBOX, key: "sixteen-letters-or-more", env: environmentOf({ PORT: "0" }) });
  assertEquals(config.server.port, 0);
  assertEquals(config.accounts.map(({ id, balance, keys }) => [id, balance, keys]), [
    ["demo", readMoney("25.00"), ["sixteen-letters-or-more"]],
  ]);
  assertEquals(
    Object.entries(config.providers).filter(([name]) => name !== "sandbox-chat")
      .map(([, { kind, baseUrl }]) => [kind, baseUrl]),
    Object.entries(SANDBOX).map(([vendor, url]) => [KIND_OF[vendor] ?? vendor, url + (PATH_OF[vendor] ?? "")]),
  );
  assertEquals(config.models.map(({ id }) => id), [
    "sandbox/chat-1",
    "sandbox/messages-1",
    "sandbox/content-1",
    "sandbox/any-1",
    "sandbox/converse-1",
    ...FAMILIES,
    "sandbox/image-1",
    "sandbox/gpt-image-2.5-flare",
    "sandbox/image-multimodal-1",
    "sandbox/image-reference-1",
    "sandbox/image-job-1",
    "sandbox/video-1",
    "sandbox/video-kling-1",
    "sandbox/video-openrouter-1",
    "sandbox/video-queue-1",
    "sandbox/video-runway-1",
    "sandbox/embedding-1",
    "sandbox/moderation-1",
    "sandbox/rerank-1",
    "sandbox/speech-1",
    "sandbox/transcription-1",
  ]);
  assertEquals(
    config.models.filter(({ id }) => /(chat|messages|content|any)-1$/.test(id)).every(({ pricing, text }) =>
      text && pricing.prompt && pricing.completion
    ),
    true,
  );
  assertEquals(config.models[3]?.serves.map(({ provider, weight }) => [provider, weight]), [
    ["sandbox-openai", 50],
    ["sandbox-anthropic", 30],
    ["sandbox-google", 20],
  ]);
});

Deno.test("devConfig() names the command as the owner of what it sets, and the environment where that decides", () => {
  const { tree } = devConfig({ sandbox: SANDBOX, key: "sixteen-letters-or-more", env: environmentOf({ PORT: "0" }) });
  assertEquals(tree.ownerOf("models", "sandbox/chat-1"), "command");
  assertEquals(tree.ownerOf("accounts", "demo"), "command");
  assertEquals(tree.ownerOf("server", "port"), "environment");
  assertEquals(tree.ownerOf("providers", "acme"), null);
});

Deno.test("devConfig() needs no vendor key", () => {
  const env = environmentOf({ OPENAI_API_KEY: "vendor-key" });
  const { config } = devConfig({ sandbox: SANDBOX, key: "sixteen-letters-or-more", env });
  assertEquals(new Set(Object.values(config.providers).map(({ apiKey }) => apiKey)), new Set(["sandbox"]));
});
