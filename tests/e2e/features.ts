import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Sandbox } from "../../src/sandbox/mod.ts";
import { itemAt } from "../support/items.ts";
import { type AccountMoney, eventually } from "../support/account_money.ts";
import {
  type Answer,
  type Client,
  type OfferedTool,
  type Target,
  ThreadRefusal,
  type Tokens,
} from "./clients/client.ts";
import { geminiIdOf, type VendorModel } from "./vendors.ts";

/** One cell of the matrix: a client in front of a vendor's model. */
export interface Cell {
  readonly client: Client;
  readonly vendor: VendorModel;
  readonly target: Target;
  readonly sandbox: Sandbox;
  readonly purse: AccountMoney;
}

/** The result of a cell: null where the feature is complete, otherwise what is missing, in a few words. */
export type Gap = string | null;

/** A feature of a client, tested end to end. Throws on failure. */
export interface Feature {
  readonly name: string;
  try(cell: Cell): Promise<Gap>;
}

const WEATHER: OfferedTool = { name: "weather", description: "Tells the weather of a city", fields: ["city"] };
const TIME: OfferedTool = { name: "time", description: "Tells the time of a city", fields: ["city"] };

/** In units of 10^-10 USD, at the price of the gateway of the matrix. */
const SEARCH_PRICE = 100_000_000n;

/** One white pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC";

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "integer" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};

/** Every feature that is tested with each client and vendor, in the order of the table. */
export const FEATURES: readonly Feature[] = [
  { name: "plain text", try: plainText },
  { name: "streamed text", try: streamedText },
  { name: "tools", try: (cell) => toolsAndBack(cell, false) },
  { name: "streamed tools", try: (cell) => toolsAndBack(cell, true) },
  { name: "parallel tools", try: parallelTools },
  { name: "tool runner", try: toolRunner },
  { name: "threads", try: threads },
  { name: "image input", try: imageInput },
  { name: "structured output", try: structuredOutput },
  { name: "thinking", try: (cell) => thinking(cell, false) },
  { name: "streamed thinking", try: (cell) => thinking(cell, true) },
  { name: "hosted search", try: hostedSearch },
  { name: "small limit", try: smallLimit },
  { name: "large limit", try: largeLimit },
  { name: "unknown model", try: unknownModel },
  { name: "vendor's refusal", try: vendorsRefusal },
  { name: "error in mid-stream", try: errorInMidStream },
  { name: "cancel in mid-stream", try: cancelInMidStream },
];

async function plainText(cell: Cell): Promise<Gap> {
  const { answer, charged } = await billed(cell, () => talk(cell).send(user("one two three four")));
  assertEquals(answer.text, "You said: one two three four");
  assertEquals(answer.stop, cell.client.stops.end);
  assertEquals({ ...answer.tokens, output: 6 }, { fresh: 4, cacheRead: 0, cacheWrite: 0, output: 6 });
  assertOutput(cell, answer.tokens.output, 6);
  assertEquals(charged, 4n * 10_000n + BigInt(answer.tokens.output) * 20_000n);
  return null;
}

async function streamedText(cell: Cell): Promise<Gap> {
  const pieces: string[] = [];
  const onText = (piece: string) => void pieces.push(piece);
  const { answer } = await billed(
    cell,
    () => talk(cell).send(user("[[words 40]] Grüße, 世界 🌍"), { stream: true, onText }),
  );
  assertEquals(answer.text, Array.from({ length: 40 }, (_, index) => `word${index + 1}`).join(" "));
  assertEquals(pieces.join(""), answer.text);
  assert(pieces.length > 10, `The text came in ${pieces.length} pieces`);
  assertEquals(answer.stop, cell.client.stops.end);
  assertOutput(cell, answer.tokens.output, 40);
  return null;
}

/** The tokens of a text, and before it those of the reasoning of a model that reasons unless it is told not to. */
function assertOutput({ vendor }: Cell, tokens: number, ofText: number): void {
  if (vendor.reasons === true) assert(tokens > ofText, `${tokens} tokens`);
  else assertEquals(tokens, ofText);
}

async function toolsAndBack(cell: Cell, stream: boolean): Promise<Gap> {
  const conversation = talk(cell);
  const asking = { tools: [WEATHER, TIME], stream };
  const first = await billed(
    cell,
    () => conversation.send(user('[[tool weather {"city":"Zürich \\"West\\""}]] Weather?'), asking),
  );
  assertEquals(first.answer.calls.map(({ name, input }) => ({ name, input })), [
    { name: "weather", input: { city: 'Zürich "West"' } },
  ]);
  assertEquals(first.answer.stop, cell.client.stops.tools);
  const second = await billed(cell, () => conversation.send(answers(first.answer, "sunny, 21 degrees"), asking));
  assertMatch(second.answer.text, /The tool weather answered: .*sunny, 21 degrees/);
  assertEquals([second.answer.calls, second.answer.stop], [[], cell.client.stops.end]);
  return null;
}

async function parallelTools(cell: Cell): Promise<Gap> {
  const conversation = talk(cell);
  const asking = { tools: [WEATHER, TIME], stream: true };
  const order = '[[tool weather {"city":"Bern"}]] [[tool time {"city":"Oslo"}]] [[tool weather {"city":"Rome"}]] All?';
  const { answer } = await billed(cell, () => conversation.send(user(order), asking));
  assertEquals(answer.calls.map(({ name, input }) => ({ name, input })), [
    { name: "weather", input: { city: "Bern" } },
    { name: "time", input: { city: "Oslo" } },
    { name: "weather", input: { city: "Rome" } },
  ]);
  const ids = answer.calls.map(({ id }) => id);
  if (ids.some((id) => id !== "")) assertEquals(new Set(ids).size, 3);
  const texts = ["rain", "noon", "heat"];
  const back = { kind: "tools" as const, answers: answer.calls.map((call, at) => ({ call, text: itemAt(texts, at) })) };
  const { answer: last } = await billed(cell, () => conversation.send(back, asking));
  // One of the clients wraps a tool's result in an object.
  for (const said of [/weather answered: .*rain/, /time answered: .*noon/, /weather answered: .*heat/]) {
    assertMatch(last.text, said);
  }
  return null;
}

async function imageInput(cell: Cell): Promise<Gap> {
  const said = { kind: "user" as const, text: "What is this?", png: PNG };
  const { answer } = await billed(cell, () => talk(cell).send(said));
  assertMatch(answer.text, /I see 1 image \(image\/png, \d+ bytes\)/);
  return null;
}

async function structuredOutput(cell: Cell): Promise<Gap> {
  const { answer } = await billed(cell, () => talk(cell).send(user("Weather in Bern?"), { schema: SCHEMA }));
  const value = JSON.parse(answer.text);
  assertEquals(Object.keys(value).toSorted(), ["city", "degrees"]);
  assertEquals([typeof value.city, Number.isInteger(value.degrees)], ["string", true]);
  return null;
}

async function thinking(cell: Cell, stream: boolean): Promise<Gap> {
  const conversation = talk(cell);
  const asking = { tools: [WEATHER], thinks: true, stream };
  const order = user('[[tool weather {"city":"Bern"}]] Weather today?');
  const first = await billed(cell, () => conversation.send(order, asking));
  assertEquals(first.answer.calls.length, 1);
  const second = await billed(cell, () => conversation.send(answers(first.answer, "sunny"), asking));
  assertMatch(second.answer.text, /The tool weather answered: .*sunny/);
  const carried = cell.vendor.hasSignature(cell.sandbox.requests.at(-1)!);
  if (first.answer.thoughts !== "") assertMatch(first.answer.thoughts, /think about this/);
  const missing = [first.answer.thoughts === "" ? "not shown" : "", carried ? "" : "not carried on"];
  return missing.filter((word) => word !== "").join(", ") || null;
}

async function toolRunner({ client, target }: Cell): Promise<Gap> {
  if (client.runTools === null) return "not offered";
  const asked: unknown[] = [];
  const text = await client.runTools(target, {
    text: '[[tool weather {"city":"Bern"}]] Weather in Bern?',
    tool: WEATHER,
    run: (input) => `sunny, call ${asked.push(input)}`,
  });
  assertMatch(text, /The tool weather answered: .*sunny, call 1/);
  assertEquals(asked, [{ city: "Bern" }]);
  return null;
}

async function threads({ client, target }: Cell): Promise<Gap> {
  if (client.runThread === null) return "not offered";
  try {
    const { fresh, cacheRead, cacheWrite } = await client.runThread(target);
    assert(fresh + cacheRead + cacheWrite > 4, "the vendor reads what it keeps");
    return null;
  } catch (thrown) {
    if (thrown instanceof ThreadRefusal) return "refused";
    throw thrown;
  }
}

async function hostedSearch(cell: Cell): Promise<Gap> {
  const { client, vendor, target } = cell;
  // This client sends a search only for model ids that look like Gemini 2 or later.
  const model = client.name === "ai, @ai-sdk/google" ? geminiIdOf(vendor) : target.model;
  if (!client.offersSearch) return "not offered";
  const isInChat = client.name === "openai chat.completions";
  if (vendor.searchless === "everywhere") return "not this provider's";
  if (isInChat && vendor.searchless === "in chat") return "not this model's";
  const { answer } = await billed(
    cell,
    () => talk(cell).send(user("weather in Bern"), { searches: true, model }),
    SEARCH_PRICE,
  );
  assertEquals(answer.text, 'The web on "weather in Bern": a simulated page tells it all.');
  assert(answer.cited.includes("https://example.com/weather-in-bern/1"), `cited: ${answer.cited}`);
  assertEquals(answer.stop, client.stops.end);
  return null;
}

/** The minimum of each format; OpenAI's responses require at least 16. */
async function smallLimit(cell: Cell): Promise<Gap> {
  const speaksResponses = /responses$|openai$/.test(cell.client.name);
  const most = speaksResponses ? 16 : /google|genai/.test(cell.client.name) ? 5 : 1;
  const { answer } = await billed(cell, () => talk(cell).send(user("[[words 40]] go"), { maxTokens: most }));
  assert(answer.tokens.output >= most && answer.tokens.output <= 16, `${answer.tokens.output} tokens`);
  return null;
}

/** A limit above the model's: the vendor gets the model's, and the reply names the field. */
async function largeLimit(cell: Cell): Promise<Gap> {
  const named = await droppedBy(() =>
    billed(cell, () => talk(cell).send(user("hello"), { maxTokens: 32_000, stream: true }))
  );
  const sent = JSON.stringify(cell.sandbox.requests.at(-1)!.body);
  assert(sent.includes("16384") && !sent.includes("32000"), sent);
  assertMatch(named ?? "", /^(max_tokens|max_completion_tokens|max_output_tokens|generationConfig\.maxOutputTokens)$/);
  return null;
}

/** Returns `X-Service-Dropped`, which not all clients have in their own types. */
async function droppedBy(ask: () => Promise<unknown>): Promise<string | null> {
  const usual = globalThis.fetch;
  let named: string | null = null;
  globalThis.fetch = async (...request: Parameters<typeof fetch>) => {
    const response = await usual(...request);
    named = response.headers.get("x-service-dropped") ?? named;
    return response;
  };
  try {
    await ask();
  } finally {
    globalThis.fetch = usual;
  }
  return named;
}

async function unknownModel(cell: Cell): Promise<Gap> {
  const nowhere = { ...cell, target: { ...cell.target, model: "sandbox/nowhere" } };
  const shown = await refused(nowhere, "hello");
  assertEquals(shown.status, 404);
  assertStringIncludes(shown.message, "sandbox/nowhere");
  return null;
}

async function vendorsRefusal(cell: Cell): Promise<Gap> {
  const shown = await refused(cell, "[[fail 400 The pigeons are tired]] hello");
  assertEquals(shown.status, 400);
  assertStringIncludes(shown.message, "The pigeons are tired");
  return null;
}

/** A failure before the first byte: the client's own error, without a charge. */
async function refused(cell: Cell, text: string) {
  const before = await cell.purse.balance();
  const thrown = await failure(talk(cell).send(user(text), { stream: true }));
  assertEquals(await cell.purse.balance(), before);
  const shown = cell.client.errorOf(thrown);
  assert(shown.isOwn, `The error is of a class of the client: ${thrown}`);
  return shown;
}

async function errorInMidStream(cell: Cell): Promise<Gap> {
  const before = await cell.purse.balance();
  const pieces: string[] = [];
  const onText = (piece: string) => void pieces.push(piece);
  const thrown = await failure(talk(cell).send(user("[[error 5]] [[words 40]] go"), { stream: true, onText }));
  const shown = cell.client.errorOf(thrown);
  assert(shown.isOwn, `The error is of a class of the client: ${thrown}`);
  assert(shown.message.length >= 10, `The message says something: "${shown.message}"`);
  assertEquals(pieces.join("").trim(), "word1 word2 word3 word4 word5");
  const charged = before - await cell.purse.balance();
  assert(charged > 0n && charged < 40n * 20_000n, `Charged for what was produced: ${charged}`);
  return null;
}

async function cancelInMidStream(cell: Cell): Promise<Gap> {
  const before = await cell.purse.balance();
  const leaving = new AbortController();
  let pieces = 0;
  const onText = () => void (++pieces === 5 && leaving.abort());
  const order = user("[[gap 15]] [[words 500]] go");
  await failure(talk(cell).send(order, { stream: true, onText, signal: leaving.signal }));
  assert(pieces < 100, `The client stopped reading: ${pieces}`);
  await eventually(() => cell.sandbox.requests.at(-1)!.cancelled);
  const charged = await eventually(async () => {
    const left = before - await cell.purse.balance();
    return left > 0n && left;
  });
  assert(charged < 300n * 20_000n, `Charged for what was produced: ${charged}`);
  return null;
}

/** Makes a call and checks that the charge equals the cost of the tokens that the client reports. */
async function billed(cell: Cell, ask: () => Promise<Answer>, besides = 0n) {
  const before = await cell.purse.balance();
  const answer = await ask();
  const charged = before - await cell.purse.balance();
  assertEquals(charged, costOf(answer.tokens) + besides);
  return { answer, charged };
}

/** In units of 10^-10 USD, at the prices of the test gateway. */
function costOf({ fresh, cacheRead, cacheWrite, output }: Tokens): bigint {
  return BigInt(fresh) * 10_000n + BigInt(cacheRead) * 1_000n + BigInt(cacheWrite) * 12_500n + BigInt(output) * 20_000n;
}

function talk({ client, target }: Cell) {
  return client.open(target);
}

function user(text: string) {
  return { kind: "user" as const, text };
}

function answers({ calls }: Answer, text: string) {
  return { kind: "tools" as const, answers: calls.map((call) => ({ call, text })) };
}

async function failure(asked: Promise<unknown>): Promise<unknown> {
  const answer = await asked.catch((thrown) => ({ thrown }));
  if (typeof answer === "object" && answer !== null && "thrown" in answer) return answer.thrown;
  throw new Error(`It was answered: ${JSON.stringify(answer)}`);
}
