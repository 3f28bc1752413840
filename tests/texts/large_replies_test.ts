import { assertEquals } from "@std/assert";
import { messages } from "../../src/conversation/codecs/messages/mod.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { runReplyJob } from "../../src/services/texts/large_replies/reply_job.ts";
import type { PassedReplyJob, WriteReplyJob } from "../../src/services/texts/large_replies/reply_jobs.ts";
import { createReplyWork } from "../../src/services/texts/large_replies/reply_work.ts";
import { NO_USAGE } from "../../src/conversation/neutral/usage.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { present } from "../support/items.ts";

const ENCODER = new TextEncoder();

function piecesOf(value: unknown): ArrayBuffer[] {
  const bytes = ENCODER.encode(JSON.stringify(value));
  return [bytes.slice(0, 10).buffer, bytes.slice(10).buffer];
}

function valueOf(pieces: readonly ArrayBuffer[]): unknown {
  return JSON.parse(pieces.map((piece) => new TextDecoder().decode(piece)).join(""));
}

const REPLY = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "tool_use", id: "call_1", name: "find", input: { _filter: 1, other: 2 } }],
  stop_reason: "tool_use",
  usage: { input_tokens: 3, output_tokens: 4 },
};

const PASSED: Omit<PassedReplyJob, "pieces" | "names"> = {
  issuer: null,
  name: "passed",
  format: "messages",
  policy: { isStored: false, hasReasoning: false, isThread: true },
};

const WRITE: Omit<WriteReplyJob, "pieces" | "caller" | "replay"> = {
  name: "write",
  format: "messages",
  names: { issuer: "acme", tools: new Map(), properties: new Map(), customTools: new Set() },
  emulation: { stop: [], keepsOneCall: false },
  accountId: "demo",
  usage: { ...NO_USAGE, freshTokens: 3, outputTokens: 4 },
  context: { model: "m", requestId: "req_1", createdAt: 1, conversation: null, includeUsage: true },
};

Deno.test("a reply that passes through a thread gets the caller's names, and its ids, usage and text are read", async () => {
  const names = new Map([["find", new Map([["_filter", "$filter"]])]]);
  const facts = await runReplyJob({ ...PASSED, pieces: piecesOf(REPLY), names });
  assertEquals(facts, {
    pieces: facts.pieces,
    usage: messages.upstream.readUsage(REPLY),
    model: REPLY.model,
    hostedCalls: 0,
    lost: [],
    output: {
      text: '{"kind":"tool_call","callId":"call_1","tool":"find","input":"{\\"_filter\\":1,\\"other\\":2}"}',
      characters: 90,
    },
    ids: [{ kind: "thread", id: "msg_1" }],
  });
  const restored = { ...REPLY, content: [{ ...REPLY.content[0], input: { $filter: 1, other: 2 } }] };
  assertEquals(valueOf(facts.pieces), restored);
});

Deno.test("a reply that a thread translates keeps its reasoning and its items for later requests", async () => {
  const signed = {
    ...REPLY,
    content: [{ type: "thinking", thinking: "Hm", signature: "c2ln" }, ...REPLY.content],
  };
  const chat = await runReplyJob({
    ...WRITE,
    pieces: piecesOf(signed),
    caller: "chat",
    replay: { signatures: "all", items: false },
  });
  assertEquals("reasoning" in chat && chat.reasoning.map(([key]) => key), ["demo call_1"]);
  const responses = await runReplyJob({
    ...WRITE,
    pieces: piecesOf(REPLY),
    caller: "responses",
    replay: { signatures: "last", items: true },
  });
  const { output } = valueOf(responses.pieces) as { output: { id: string }[] };
  const [item] = output;
  assertEquals("items" in responses && responses.items.map(([key]) => key), [`demo ${present(item, "an item").id}`]);
});

Deno.test("the work on a reply tells one that is none of its format from a thread that fails", async () => {
  const work = createReplyWork({ clock: systemClock, log: silentLog });
  const broken = await work.run({ ...PASSED, pieces: [ENCODER.encode("{").buffer], names: null }, "demo");
  assertEquals(broken, { unreadable: "SyntaxError" });
  work.close();
  const failing = createReplyWork({
    clock: systemClock,
    log: silentLog,
    start: ({ onCrash }) => {
      return { post: () => onCrash("out of memory"), terminate() {}, setReferenced() {} };
    },
  });
  assertEquals(await failing.run({ ...PASSED, pieces: [], names: null }, "demo"), { unavailable: "crashed" });
  failing.close();
});
