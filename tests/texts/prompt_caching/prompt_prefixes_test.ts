import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { jsonObjectOf } from "../../../src/platform/http/bodies/json_body.ts";
import { keyedHash, newHashSecret, PrefixHash } from "../../../src/services/texts/memory/prefix_hash.ts";
import { PrefixMemory } from "../../../src/services/texts/memory/prefix_memory.ts";
import { prefixesOf, type PromptPrefixes } from "../../../src/services/texts/prompt_caching/prompt_prefixes.ts";
import { ManualClock } from "../../support/manual_clock.ts";

function prefixesIn(body: unknown): PromptPrefixes {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const { outline, scan } = jsonObjectOf(bytes);
  return prefixesOf({ body: outline, bytes, scan });
}

const LONG = "long text ".repeat(1_000);

const SPELLINGS = {
  chat: (head: string, turns: readonly string[]) => ({
    tools: [{ type: "function", function: { name: "t" } }],
    messages: [
      { role: "system", content: head },
      ...turns.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content })),
    ],
  }),
  messages: (head: string, turns: readonly string[]) => ({
    tools: [{ name: "t" }],
    system: head,
    messages: turns.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content })),
  }),
  responses: (head: string, turns: readonly string[]) => ({
    tools: [{ type: "function", name: "t" }],
    instructions: head,
    input: turns.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content })),
  }),
  content: (head: string, turns: readonly string[]) => ({
    tools: [{ functionDeclarations: [{ name: "t" }] }],
    systemInstruction: { parts: [{ text: head }] },
    contents: turns.map((text, at) => ({ role: at % 2 === 0 ? "user" : "model", parts: [{ text }] })),
  }),
};

for (const [format, write] of Object.entries(SPELLINGS)) {
  Deno.test(`${format}: a later turn has the prefixes of the turns before it`, () => {
    const first = prefixesIn(write(LONG, [`${LONG} one`]));
    const later = prefixesIn(write(LONG, [`${LONG} one`, "answer", LONG]));
    assertEquals(later.tools, first.tools);
    assertEquals(later.head, first.head);
    assertEquals(later.ends[0], first.ends[0]);
    assertEquals([first.isContinued, later.isContinued], [false, true]);
    assertEquals([first.ends.length, later.ends.length], [1, 3]);
  });

  Deno.test(`${format}: one other character anywhere makes another prefix`, () => {
    const turns = ["one", "answer", LONG];
    const whole = prefixesIn(write(LONG, turns));
    const otherHead = prefixesIn(write(`${LONG.slice(0, 5_000)}!${LONG.slice(5_001)}`, turns));
    assertNotEquals(otherHead.head, whole.head);
    const otherEnd = prefixesIn(write(LONG, ["one", "answer", `${LONG.slice(0, -1)}!`]));
    assertEquals(otherEnd.ends[1], whole.ends[1]);
    assertNotEquals(otherEnd.ends[2], whole.ends[2]);
  });
}

Deno.test("of a long conversation, the prefixes after the first message and after the last ones are hashed", () => {
  const turns = Array.from({ length: 301 }, (_, at) => `turn ${at}`);
  const { ends } = prefixesIn(SPELLINGS.chat("be kind", turns));
  assertEquals(ends.length, 65);
  assertEquals(ends[0], prefixesIn(SPELLINGS.chat("be kind", turns.slice(0, 1))).ends[0]);
  const before = prefixesIn(SPELLINGS.chat("be kind", turns.slice(0, -40)));
  assertEquals(ends.at(-41), before.ends.at(-1));
});

Deno.test("marks that move from turn to turn are no part of a prefix", () => {
  const block = { type: "text", text: "one" };
  const marked = prefixesIn({ messages: [{ role: "user", content: [{ ...block, cache_control: { type: "e" } }] }] });
  assertEquals(marked.ends, prefixesIn({ messages: [{ role: "user", content: [block] }] }).ends);
});

Deno.test("texts of every length have different hashes, whichever character differs", () => {
  const secret = newHashSecret();
  const seen = new Set<number>();
  let count = 0;
  for (const length of [0, 1, 7, 8, 9, 64, 2_048, 2_049]) {
    const text = "a".repeat(length);
    for (let at = -1; at < Math.min(length, 70); at++) {
      const hash = new PrefixHash();
      hash.addText(at < 0 ? text : `${text.slice(0, at)}b${text.slice(at + 1)}`);
      seen.add(keyedHash(hash.digest(), secret));
      count++;
    }
  }
  assertEquals(seen.size, count);
});

Deno.test("bytes of every length have different hashes, whichever byte differs", () => {
  const secret = newHashSecret();
  const seen = new Set<number>();
  let count = 0;
  for (const length of [0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 100]) {
    for (let at = -1; at < length; at++) {
      const bytes = new Uint8Array(length).fill(97);
      if (at >= 0) bytes[at] = 98;
      const hash = new PrefixHash();
      hash.addBytes(new DataView(bytes.buffer), 0, length);
      seen.add(keyedHash(hash.digest(), secret));
      count++;
    }
  }
  assertEquals(seen.size, count);
});

Deno.test("a keyed hash differs with its secret", () => {
  const hash = new PrefixHash();
  hash.addText("one");
  assertNotEquals(keyedHash(hash.digest(), newHashSecret()), keyedHash(hash.digest(), newHashSecret()));
});

Deno.test("what an account and all accounts have seen is bounded, and the oldest is forgotten", () => {
  const memory = new PrefixMemory(new ManualClock());
  const digest = (low: number) => ({ high: 1, low });
  for (let index = 0; index < 5_000; index++) memory.note({ accountId: "a", model: "m" }, [digest(index)], "p");
  assertEquals(memory.size, 4_096);
  assertEquals(memory.find({ accountId: "a", model: "m" }, digest(0)), null);
  assertEquals(memory.find({ accountId: "a", model: "m" }, digest(4_999))?.provider, "p");
  for (let account = 0; account < 60; account++) {
    const many = Array.from({ length: 2_000 }, (_, index) => digest(index));
    memory.note({ accountId: `b${account}`, model: "m" }, many, "p");
  }
  assert(memory.size <= 100_000);
  assertEquals(memory.find({ accountId: "a", model: "m" }, digest(4_999)), null);
});

Deno.test("accounts and models share nothing, and a sighting has its age", () => {
  const clock = new ManualClock();
  const memory = new PrefixMemory(clock);
  const digest = { high: 5, low: 6 };
  memory.note({ accountId: "a", model: "m" }, [digest], "p");
  clock.advance(1_000);
  assertEquals(memory.find({ accountId: "a", model: "m" }, digest), { provider: "p", ageMs: 1_000 });
  assertEquals(memory.find({ accountId: "b", model: "m" }, digest), null);
  assertEquals(memory.find({ accountId: "a", model: "n" }, digest), null);
});
