import { assertEquals } from "@std/assert";
import { builtInEntries } from "../../src/vendors/catalog/built_in.ts";
import { bareNameOf } from "../../src/vendors/catalog/catalog.ts";
import { BUILT_IN_VENDORS } from "../../src/vendors/upstreams/vendors.ts";
import { filesOf, ROOT } from "../architecture/source_files.ts";

/** What operators and callers read, and where the name of a model is written by hand. */
const PAGES = ["README.md", "SECURITY.md", "CONTRIBUTING.md"];
const FOLDERS = ["docs", "examples", "ops", "scripts", "src/entry/cli", "src/console", "src/entry/doctor"];
/** What is as it was when it was written, and what has names of imports. */
const UNREAD = /^docs\/(decisions|console)\/|^src\/entry\/cli\/import\//;

/** Names that are meant not to be built in, with the reason. */
const OTHERS: Readonly<Record<string, string>> = {
  "anthropic/claude-opus-5.5": "routing.md: a mistyped name",
  "anthropic/sandbox/chat-1": "clients.md: a client's own prefix",
  "openai/sandbox/chat-1": "clients.md: a client's own prefix",
  "bytedance/seedance-2.0": "providers.md: a name at fal",
  "pika/pikaframes": "providers.md: an operator's own model",
  "vidu/viduq2-pro": "providers.md: an operator's own model",
  "fal/flux-2-pro": "providers.md: an operator's own model",
  "fal/kling-3-pro": "providers.md: an operator's own model",
  "openai/gpt-5.5-2": "importing.md: an id that an import makes",
  "openai/gpt-6": "operating/watch.md: a mistyped name",
  "openai/gpt-9-nova": "providers.md: a model that is newer than the gateway",
  "openai/gpt-6-sol-2026-09": "configuration-reference.md: a canonical slug",
  "openai/gpt-image-1.5-2025-12": "configuration.md: a canonical slug",
  "openai/gpt-realtime": "importing.md: a model that is not carried",
  "openrouter/meta-llama/llama-4": "routing.md: a model from the vendor's list",
  "openrouter/qwen": "routing.md: the beginning of names from the vendor's list",
  "gpt-6-sol-2026-09": "configuration-reference.md: a dated name at the vendor",
  "gpt-6-sol-claude": "clients.md: an alias",
  "claude-sonnet-4-5": "clients.md: a name that a client knows; clouds.md: a cloud serves it longer",
  "claude-sonnet-4-5-20250929-v1": "clouds.md: a cloud serves it longer",
};

const entries = builtInEntries(new Set(BUILT_IN_VENDORS))
  .map(({ id, serves }) => ({ id: String(id), serves: serves as readonly { readonly model?: string }[] }));
const ids = new Set(entries.map(({ id }) => id));
const bareNames = new Set(entries.flatMap(({ id, serves }) => [bareNameOf(id), ...serves.map(({ model }) => model)]));
const families = BUILT_IN_VENDORS.join("|");
const ID = new RegExp(`(?<![\\w./@-])(?:${families})/[A-Za-z0-9][A-Za-z0-9._/-]*[A-Za-z0-9]`, "g");
const BARE = new RegExp(
  "(?<![\\w./@-])(?:gpt-\\d|claude-(?:opus|sonnet|haiku|fable)-|gemini-\\d|grok-\\d|deepseek-v|kimi-k|glm-\\d" +
    "|mistral-(?:large|medium|small)-|MiniMax-M)[A-Za-z0-9._-]*[A-Za-z0-9]",
  "g",
);

Deno.test("documentation, commands, console and examples name only models that are built in", async () => {
  const unknown = new Map<string, string>();
  const paths = [...PAGES, ...(await Promise.all(FOLDERS.map((folder) => filesOf(folder, "")))).flat()];
  for (const path of paths) {
    if (UNREAD.test(path) || !/\.(md|tsx?|ya?ml|json|py|go|sh|mjs)$/.test(path)) continue;
    const text = await Deno.readTextFile(`${ROOT}${path}`);
    const named = [
      ...[...text.matchAll(ID)].filter(([id]) => !ids.has(id)),
      ...[...text.matchAll(BARE)].filter(([name]) => !bareNames.has(name)),
    ];
    for (const [name] of named) if (!(name in OTHERS)) unknown.set(name, path);
  }
  assertEquals(unknown, new Map(), "name a built-in model, or add the name with its reason to OTHERS");
});
