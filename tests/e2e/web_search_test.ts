import { assert, assertEquals, assertMatch } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { accountMoney } from "../support/account_money.ts";

type Json = Record<string, unknown>;

const SEARCH_PRICE = "0.01";
const QUERY = "weather in Bern";
const ANSWER = `The web on "${QUERY}": a simulated page tells it all.`;
const PAGES = ["https://example.com/weather-in-bern/1", "https://example.com/weather-in-bern/2"];

const gateway = await startTestGateway({
  balance: "1000.00",
  config: {
    models: [
      searching("sandbox/chat-1", ["sandbox-openai"]),
      searching("sandbox/messages-1", ["sandbox-anthropic"]),
      searching("sandbox/content-1", ["sandbox-google"]),
      searching("sandbox/gemini-2.5-flash", ["sandbox-google"]),
      textModel("sandbox/plain-1", ["sandbox-anthropic"]),
      textModel("sandbox/plain-2", ["sandbox-openai"]),
    ],
  },
});
const { address, key, sandbox } = gateway;
const account = accountMoney(gateway);

function searching(id: string, providers: readonly string[]): Json {
  return { ...textModel(id, providers), pricing: { ...PRICING, web_search: SEARCH_PRICE } };
}

/** One caller protocol: its request for a search, and what is read of the reply. */
interface Caller {
  readonly name: string;
  path(model: string, stream: boolean): string;
  body(model: string, stream: boolean, text: string, others: boolean): Json;
  /** Assembles the events of a stream, by the rules of the format. */
  read(reply: Json | readonly Json[]): Told;
}

/** The parts of a reply; null where the format does not have them. */
interface Told {
  readonly text: string;
  readonly queries: readonly string[] | null;
  readonly pages: readonly string[] | null;
  readonly cited: readonly { readonly url: string; readonly of: string }[];
}

const FUNCTION = { name: "look", description: "Looks", parameters: { type: "object", properties: {} } };

const CALLERS: readonly Caller[] = [
  {
    name: "messages",
    path: () => "/msgcompat/v1/messages",
    body: (model, stream, text, others) => ({
      model,
      stream,
      max_tokens: 500,
      messages: [{ role: "user", content: text }],
      tools: [
        { type: "web_search_20250305", name: "web_search", max_uses: 3 },
        ...others ? [{ name: "look", input_schema: FUNCTION.parameters }] : [],
      ],
    }),
    read: (reply) => toldByMessages(Array.isArray(reply) ? messageOf(reply) : reply as Json),
  },
  {
    name: "responses",
    path: () => "/v1/responses",
    body: (model, stream, text, others) => ({
      model,
      stream,
      input: text,
      include: ["web_search_call.action.sources"],
      tools: [{ type: "web_search" }, ...others ? [{ type: "function", strict: false, ...FUNCTION }] : []],
    }),
    read: (reply) => {
      const last = Array.isArray(reply) ? reply.at(-1)!.response as Json : reply as Json;
      return toldByResponses(last.output as Json[]);
    },
  },
  {
    name: "content",
    path: (model, stream) =>
      `/gencompat/v1beta/models/${encodeURIComponent(model)}:${
        stream ? "streamGenerateContent?alt=sse" : "generateContent"
      }`,
    body: (_model, _stream, text, others) => ({
      contents: [{ role: "user", parts: [{ text }] }],
      tools: [{ googleSearch: {} }, ...others ? [{ functionDeclarations: [FUNCTION] }] : []],
      ...others ? { toolConfig: { includeServerSideToolInvocations: true } } : {},
    }),
    read: (reply) => toldByContent(Array.isArray(reply) ? reply : [reply as Json]),
  },
  {
    name: "chat",
    path: () => "/v1/chat/completions",
    body: (model, stream, text, others) => ({
      model,
      stream,
      messages: [{ role: "user", content: text }],
      web_search_options: {},
      ...others ? { tools: [{ type: "function", function: FUNCTION }] } : {},
    }),
    read: (reply) => toldByChat(Array.isArray(reply) ? reply : [reply as Json]),
  },
];

/** The message that a stream of the message protocol assembles to. */
function messageOf(events: readonly Json[]): Json {
  const blocks: Json[] = [];
  for (const { type, index, content_block, delta } of events as Json[]) {
    const at = index as number;
    if (type === "content_block_start") {
      assertEquals(at, blocks.length);
      blocks.push(content_block as Json);
    }
    if (type !== "content_block_delta") continue;
    const block = itemAt(blocks, at);
    const { type: kind, text, citation, partial_json } = delta as Json;
    if (kind === "text_delta") block.text = `${block.text}${text}`;
    if (kind === "citations_delta") block.citations = [...(block.citations as Json[] ?? []), citation as Json];
    if (kind === "input_json_delta") block.input = JSON.parse(String(partial_json));
  }
  const last = events.findLast(({ type }) => type === "message_delta")!;
  return { content: blocks, usage: last.usage };
}

function toldByMessages({ content, usage }: Json): Told {
  const blocks = content as Json[];
  const texts = blocks.filter(({ type }) => type === "text");
  const [call, result] = atLeast(blocks.filter(({ type }) => type !== "text"), 2);
  assertEquals(blocks.slice(0, 2).map(({ type }) => type), ["server_tool_use", "web_search_tool_result"]);
  assertEquals((usage as Json).server_tool_use, { web_search_requests: 1 });
  assertEquals([call.name, result.tool_use_id], ["web_search", call.id]);
  assertMatch(String(call.id), /^srvtoolu_[a-zA-Z0-9_]+$/);
  return {
    text: texts.map(({ text }) => text).join(""),
    queries: [(call.input as Json).query as string],
    pages: (result.content as Json[]).map(({ url }) => String(url)),
    cited: texts.flatMap(({ text, citations }) =>
      (citations as Json[] ?? []).map(({ url, type }) => {
        assertEquals(type, "web_search_result_location");
        return { url: String(url), of: String(text) };
      })
    ),
  };
}

function toldByResponses(output: readonly Json[]): Told {
  const calls = output.filter(({ type }) => type === "web_search_call");
  assertEquals(output.map(({ type }) => type).indexOf("web_search_call"), 0);
  const action = itemAt(calls, 0).action as Json;
  const parts = output.filter(({ type }) => type === "message").flatMap(({ content }) => content as Json[]);
  return {
    text: parts.map(({ text }) => text).join(""),
    queries: action.queries as string[],
    pages: (action.sources as Json[] | undefined)?.map(({ url }) => String(url)) ?? null,
    cited: parts.flatMap(({ text, annotations }) =>
      (annotations as Json[]).map(({ url, start_index, end_index }) => ({
        url: String(url),
        of: String(text).slice(start_index as number, end_index as number),
      }))
    ),
  };
}

function toldByContent(chunks: readonly Json[]): Told {
  const candidates = chunks.map(({ candidates }) => itemAt(candidates as Json[], 0));
  const text = candidates.flatMap(({ content }) => ((content as Json).parts as Json[] ?? []).map(({ text }) => text))
    .join("");
  const grounding = candidates.at(-1)!.groundingMetadata as Json;
  const addresses = (grounding.groundingChunks as Json[]).map(({ web }) => String((web as Json).uri));
  return {
    text,
    queries: (grounding.webSearchQueries as string[] | undefined) ?? null,
    pages: null,
    cited: (grounding.groundingSupports as Json[]).map(({ segment, groundingChunkIndices }) => ({
      url: itemAt(addresses, itemAt(groundingChunkIndices as number[], 0)),
      of: text.slice((segment as Json).startIndex as number, (segment as Json).endIndex as number),
    })),
  };
}

function toldByChat(replies: readonly Json[]): Told {
  const messages = replies.flatMap(({ choices }) =>
    (choices as Json[]).map(({ message, delta }) => (message ?? delta) as Json)
  );
  const text = messages.map(({ content }) => content ?? "").join("");
  return {
    text,
    queries: null,
    pages: null,
    cited: messages.flatMap(({ annotations }) => annotations as Json[] ?? []).map(({ url_citation }) => {
      const { url, start_index, end_index } = url_citation as Json;
      return { url: String(url), of: text.slice(start_index as number, end_index as number) };
    }),
  };
}

interface Answered {
  readonly status: number;
  readonly dropped: string | null;
  readonly reply: Json | readonly Json[];
}

async function ask(caller: Caller, model: string, body: Json, stream: boolean): Promise<Answered> {
  const response = await fetch(address + caller.path(model, stream), {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "msg-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream");
  const reply = isEvents
    ? text.split(/\r?\n/).filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)))
    : JSON.parse(text);
  return { status: response.status, dropped: response.headers.get("x-service-dropped"), reply };
}

const VENDORS = ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"];
/** The caller protocol of a vendor's format, except chat, whose search needs a separate model. */
const OWN: Readonly<Record<string, string>> = {
  "sandbox/messages-1": "messages",
  "sandbox/content-1": "content",
  "sandbox/chat-1": "responses",
};

for (const caller of CALLERS) {
  for (const model of VENDORS) {
    // Both ends use chat there, and the vendor's model has no search in that format.
    if (caller.name === "chat" && model === "sandbox/chat-1") continue;
    for (const stream of [false, true]) {
      const how = `${caller.name} caller, ${model}, ${stream ? "streamed" : "whole"}`;
      Deno.test(`a hosted search and its sources reach the caller: ${how}`, async () => {
        const before = await account.balance();
        const body = caller.body(model, stream, QUERY, false);
        const { status, reply, dropped } = await ask(caller, model, body, stream);
        assertEquals(status, 200, JSON.stringify(reply));
        const told = caller.read(reply);
        assertEquals(told.text, ANSWER);
        if (told.queries !== null) assertEquals(told.queries, [QUERY]);
        // The content format returns only the pages that are cited.
        if (told.pages !== null) assertEquals(told.pages, model === "sandbox/content-1" ? PAGES.slice(0, 1) : PAGES);
        assertEquals(told.cited.map(({ url }) => url), [PAGES[0]]);
        assert(told.cited[0]?.of.includes("a simulated page tells it all."), itemAt(told.cited, 0).of);
        const isLimited = caller.name === "messages" && model === "sandbox/content-1";
        assertEquals(dropped, isLimited ? "tools.web_search_20250305.max_uses" : null);
        const charged = before - await account.balance();
        assert(charged > 100_000_000n && charged < 102_000_000n, `charged ${charged}`);
      });

      Deno.test(`a search beside functions runs when the model calls it: ${how}`, async () => {
        const order = `[[search ${QUERY}]] Please`;
        const { status, reply } = await ask(caller, model, caller.body(model, stream, order, true), stream);
        assertEquals(status, 200, JSON.stringify(reply));
        const texts = JSON.stringify(reply);
        assert(texts.includes(itemAt(PAGES, 0)), texts);
      });
    }
  }

  Deno.test(`a model without a price for searches rejects a request that needs one: ${caller.name}`, async () => {
    for (const model of ["sandbox/plain-1", "sandbox/plain-2"]) {
      if (caller.name === "chat" && model === "sandbox/plain-2") continue;
      const seen = sandbox.requests.length;
      const before = await account.balance();
      const { status, reply } = await ask(caller, model, caller.body(model, false, QUERY, false), false);
      assertEquals(status, 400);
      const field = { chat: "web_search_options", content: /tools\[0\]/ }[caller.name] ?? "tools[0]";
      assertMatch(JSON.stringify(reply), field instanceof RegExp ? field : new RegExp(field.replace(/[[\]]/g, "\\$&")));
      assertEquals(sandbox.requests.length, seen);
      assertEquals(await account.balance(), before);
    }
  });

  Deno.test(`beside functions a search without a price is dropped and named: ${caller.name}`, async () => {
    const model = caller.name === "messages" ? "sandbox/plain-2" : "sandbox/plain-1";
    const { status, dropped } = await ask(caller, model, caller.body(model, false, "hello", true), false);
    assertEquals(status, 200);
    const name = {
      chat: "web_search_options",
      content: "tools.googleSearch",
      messages: "tools.web_search_20250305",
      responses: "tools.web_search",
    }[caller.name]!;
    assert(dropped?.split(", ").includes(name), `${dropped}`);
    assert(!/web_search|googleSearch/.test(JSON.stringify(sandbox.requests.at(-1)!.body)));
  });
}

/** A reply in the form in which a caller sends it back. */
const REPEATS: readonly { readonly name: string; body(model: string, reply: Json): Json }[] = [
  {
    name: "messages",
    body: (model, { content }) => ({
      model,
      max_tokens: 500,
      messages: [
        { role: "user", content: QUERY },
        { role: "assistant", content },
        { role: "user", content: "and now?" },
      ],
    }),
  },
  {
    name: "responses",
    body: (model, { output }) => ({
      model,
      input: [{ role: "user", content: QUERY }, ...output as Json[], { role: "user", content: "and now?" }],
    }),
  },
];

for (const { name, body } of REPEATS) {
  const caller = CALLERS.find((each) => each.name === name)!;
  for (const first of VENDORS) {
    for (const second of VENDORS) {
      Deno.test(`a history with a search continues: ${name} caller, ${first} then ${second}`, async () => {
        const { reply } = await ask(caller, first, caller.body(first, false, QUERY, false), false);
        const { status, reply: again, dropped } = await ask(caller, second, body(second, reply as Json), false);
        assertEquals(status, 200, JSON.stringify(again));
        assert(JSON.stringify(again).includes("You said: and now?"));
        const seen = JSON.stringify(sandbox.requests.at(-1)!.body);
        assert(seen.includes("a simulated page tells it all."), seen);
        // Only the gateway can read a wrapped mark.
        assert(!seen.includes('"c3kx') && !seen.includes("srvtoolu_sy_"), seen);
        const isKept = first === second && second !== "sandbox/content-1" && OWN[second] === name;
        if (!isKept) assert(!/"encrypted_(content|index)":/.test(seen), seen);
        // Chat and content have no place for a search in a history, so a vendor does not get searches of others.
        const call = name === "messages" ? "messages.content.server_tool_use" : "input.web_search_call";
        const isTold = isKept || (first === second && second === "sandbox/chat-1");
        assertEquals(dropped?.split(", ").includes(call) ?? false, !isTold);
      });
    }
  }
}

Deno.test("a search that the input adds runs, is rejected or is named like one of the request's own tools", async () => {
  const responses = CALLERS.find(({ name }) => name === "responses")!;
  const send = (model: string, text: string, others: readonly Json[]) => {
    const added = { type: "additional_tools", role: "developer", tools: [{ type: "web_search" }, ...others] };
    return ask(responses, model, { model, input: [added, { role: "user", content: text }] }, false);
  };
  for (const model of ["sandbox/messages-1", "sandbox/content-1"]) {
    const { status, reply, dropped } = await send(model, QUERY, []);
    assertEquals([status, dropped], [200, null], JSON.stringify(reply));
    assertEquals(responses.read(reply).queries, [QUERY]);
  }
  const refused = await send("sandbox/plain-1", QUERY, []);
  assertEquals(refused.status, 400);
  assertMatch(JSON.stringify(refused.reply), /input\[0\]\.tools\[0\]/);
  const left = await send("sandbox/plain-1", "hello", [{ type: "function", strict: false, ...FUNCTION }]);
  assertEquals([left.status, left.dropped], [200, "input.additional_tools.tools.web_search"]);
});

Deno.test("a pass-through search costs as much as a translated one", async () => {
  const charges: bigint[] = [];
  for (const [model, name] of Object.entries(OWN)) {
    const caller = CALLERS.find((each) => each.name === name)!;
    const before = await account.balance();
    await ask(caller, model, caller.body(model, true, QUERY, false), true);
    charges.push((before - await account.balance()) / 1_000_000n);
  }
  assertEquals(charges, [100n, 100n, 100n]);
});

Deno.test({
  name: "the gateway of the searches stops",
  sanitizeOps: false,
  sanitizeResources: false,
  fn: () => gateway.stop(),
});
