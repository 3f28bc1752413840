import { assert, assertEquals } from "@std/assert";
import { textQuantitiesOf } from "../../src/money/billing/prices/text_quantities.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { CODECS } from "../support/formats.ts";
import members from "./members.json" with { type: "json" };
import { type Meaning, MEANINGS } from "./table.ts";

const clients: Readonly<Record<string, { readonly version: string; readonly members: readonly string[] }>> = members;

Deno.test("every member of usage in the newest clients is priced, part of another, or free with a reason", () => {
  for (const [client, { version, members }] of Object.entries(clients)) {
    const known = MEANINGS[client] ?? {};
    const unknown = members.filter((member) => known[member] === undefined);
    assertEquals(unknown, [], `${client} ${version}: say in tests/usage_members/table.ts what these cost`);
    assertEquals(Object.keys(known).filter((member) => !members.includes(member)), [], `${client}: gone`);
  }
});

/** How a client's usage arrives, with tokens on both sides. */
const WIRES: Readonly<Record<string, { readonly usage: JsonObject; readonly read: (usage: JsonObject) => unknown }>> = {
  "openai CompletionUsage": {
    usage: { prompt_tokens: 100, completion_tokens: 100 },
    read: (usage) => CODECS.chat.upstream.readUsage({ usage }),
  },
  "openai ResponseUsage": {
    usage: { input_tokens: 100, input_tokens_details: { cache_write_tokens: 50 }, output_tokens: 100 },
    read: (usage) => CODECS.responses.upstream.readUsage({ usage }),
  },
  "@anthropic-ai/sdk Usage": {
    usage: { input_tokens: 100, cache_creation_input_tokens: 50, output_tokens: 100 },
    read: (usage) => CODECS.messages.upstream.readUsage({ usage }),
  },
  "@google/genai GenerateContentResponseUsageMetadata": {
    usage: { promptTokenCount: 100, candidatesTokenCount: 100 },
    read: (usageMetadata) => CODECS.content.upstream.readUsage({ usageMetadata }),
  },
  "@mistralai/mistralai UsageInfo": {
    usage: { prompt_tokens: 100, completion_tokens: 100 },
    read: (usage) => CODECS.chat.upstream.readUsage({ usage }),
  },
};

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function withMember(usage: JsonObject, path: readonly string[], value: number): JsonObject {
  const [name = "", ...rest] = path;
  const inner = typeof usage[name] === "object" && usage[name] !== null ? usage[name] as JsonObject : {};
  return { ...usage, [name]: rest.length === 0 ? value : withMember(inner, rest, value) };
}

Deno.test("a member that is priced by a key changes what is charged by this key", () => {
  let checked = 0;
  for (const [client, { usage, read }] of Object.entries(WIRES)) {
    for (const [member, meaning] of Object.entries<Meaning>(MEANINGS[client] ?? {})) {
      if (!("key" in meaning)) continue;
      const path = (client.startsWith("@mistralai") ? snakeCase(member) : member).split(".");
      const quantity = (value: number) => {
        const reported = read(withMember(usage, path, value));
        assert(reported !== null);
        return textQuantitiesOf(reported as Parameters<typeof textQuantitiesOf>[0])[meaning.key as "prompt"];
      };
      // Parts are at most their total.
      const [more, fewer] = /ttl_|ephemeral_/.test(member) ? [9, 8] : [60, 51];
      assert(quantity(more) > quantity(fewer), `${client} ${member}: ${meaning.key}`);
      checked++;
    }
  }
  assert(checked > 20);
});
