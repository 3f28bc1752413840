import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { valueAt } from "../support/items.ts";
import { accountMoney, eventually } from "../support/account_money.ts";
import { skipReplyChecks } from "../support/reply_checks.ts";
import { answer as httpAnswer, startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";
import { assertErrorShape, CALLER_PROTOCOLS, type CallerProtocol, CHAT, MESSAGES, sendAs } from "./caller_protocols.ts";

const VENDOR_KEY = "vk-live-0123456789abcdef";
const ORGANIZATION = "org-a1B2c3D4e5F6g7H8";

const delta = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

function completion(usage: unknown): string {
  const choices = [{ index: 0, message: { role: "assistant", content: "four words of text" }, finish_reason: "stop" }];
  return JSON.stringify({ id: "c1", object: "chat.completion", created: 1, model: "m", choices, usage });
}

const GOOD_USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

/** The vendor's bytes on the wire, by the last word of the prompt. */
const ERROR_TEXT: Readonly<Record<string, string>> = {
  html: httpAnswer(200, "<!doctype html><h1>Bad gateway</h1>", { "content-type": "text/html" }),
  nothing: httpAnswer(200, ""),
  truncated: httpAnswer(200, completion(GOOD_USAGE).slice(0, 80)),
  othershape: httpAnswer(200, '{"hello":1}'),
  aList: httpAnswer(200, "[]"),
  redirect: httpAnswer(302, "", { location: "http://127.0.0.1:1/steal" }),
  noUsage: httpAnswer(200, completion(undefined)),
  negativeUsage: httpAnswer(200, completion({ prompt_tokens: -5, completion_tokens: -7 })),
  hugeUsage: httpAnswer(200, completion({ prompt_tokens: 1e18, completion_tokens: 1e18 })),
  textUsage: httpAnswer(200, completion({ prompt_tokens: "3", completion_tokens: "many" })),
  headers: httpAnswer(200, completion(GOOD_USAGE), {
    "set-cookie": "session=1",
    "content-encoding": "identity",
    "x-powered-by": "vendor",
    "keep-alive": "timeout=5",
  }),
  lying: httpAnswer(200, completion(GOOD_USAGE), { "content-encoding": "gzip", "transfer-encoding": "identity" }),
  secret: httpAnswer(
    400,
    JSON.stringify({ error: { message: `Incorrect key ${VENDOR_KEY} for organization ${ORGANIZATION}: no` } }),
  ),
  wrongKey: httpAnswer(401, JSON.stringify({ error: { message: `Incorrect API key provided: ${VENDOR_KEY}` } })),
  noEnd: `${STREAM_HEAD}${delta("one ")}${delta("two")}`,
  halfFrame: `${STREAM_HEAD}${delta("one ")}data: {"choices":[{"index":0,"delta":{"conte`,
  noFinalBlank: `${STREAM_HEAD}${delta("one ")}${delta("two")}${END.trimEnd()}`,
  carriageReturns: `${STREAM_HEAD}\ufeff: hello\r\n\r\n${
    (delta("one ") + delta("two") + END).replaceAll("\n", "\r\n")
  }`,
  secretInStream: `${STREAM_HEAD}${delta("one ")}data: ${
    JSON.stringify({ error: { message: `The key ${VENDOR_KEY} is over its limit`, code: "rate_limit_exceeded" } })
  }\n\n`,
};

let endlessClosed = false;

const vendor = startScriptedUpstream(async (side) => {
  for (let request; (request = await side.request()) !== null;) {
    if (request.method === "GET") {
      await side.say(httpAnswer(200, '{"data":[]}')); // The key is valid: only this one request is refused.
      continue;
    }
    const word = /(\w+)"/.exec(request.body.slice(request.body.lastIndexOf("please ")))?.[1] ?? "";
    if (word !== "endless") {
      await side.say(valueAt(ERROR_TEXT, word));
      if (valueAt(ERROR_TEXT, word).startsWith(STREAM_HEAD)) return side.close();
      continue;
    }
    await side.say(`${STREAM_HEAD}${delta("one ")}data: {"choices":[{"delta":{"content":"`);
    const megabyte = "x".repeat(1_000_000);
    let written = 0;
    while (written < 100 && await side.say(megabyte)) written++;
    endlessClosed = written < 100;
    return;
  }
});

const gateway = await startTestGateway({
  config: {
    providers: {
      scripted: { kind: "openai", base_url: vendor.baseUrl, api_key: VENDOR_KEY, speaks: "chat" },
    },
    models: [textModel("sandbox/scripted", ["scripted"])],
  },
});
skipReplyChecks(gateway.address);
const account = accountMoney(gateway);
const ask = (face: CallerProtocol, word: string, stream = false) =>
  sendAs(face, gateway, { model: "sandbox/scripted", text: `please ${word}`, stream });

Deno.test("a response that is no reply becomes a 502 in each protocol, and costs nothing", async () => {
  for (const word of ["html", "nothing", "truncated", "othershape", "aList", "redirect"]) {
    for (const face of CALLER_PROTOCOLS) {
      const before = await account.balance();
      const answer = await ask(face, word);
      assertEquals(answer.status, 502, `${face.name} ${word}: ${answer.text}`);
      assertErrorShape(face, answer);
      assertEquals(await account.balance(), before);
    }
  }
});

Deno.test("a stream whose response is no stream becomes a 502 in each protocol, and costs nothing", async () => {
  for (const word of ["html", "nothing", "othershape"]) {
    for (const face of CALLER_PROTOCOLS) {
      const before = await account.balance();
      const answer = await ask(face, word, true);
      assertEquals(answer.status, 502, `${face.name} ${word}: ${answer.text}`);
      assertErrorShape(face, answer);
      assertEquals(await account.balance(), before);
    }
  }
});

Deno.test("usage that is missing or impossible is counted or capped: no charge is negative or excessive", async () => {
  for (const word of ["noUsage", "negativeUsage", "hugeUsage", "textUsage"]) {
    for (const face of [CHAT, MESSAGES]) {
      const before = await account.balance();
      const answer = await ask(face, word);
      assertEquals(answer.status, 200, `${face.name} ${word}: ${answer.text}`);
      const charged = before - await account.balance();
      // A vendor that reports more is capped at a context of 128,000 tokens and 16,384 of output.
      const most = word === "hugeUsage" ? 128_000n * 10_000n + 16_384n * 20_000n : 100n * 20_000n;
      assert(charged > 0n && charged <= most, `${face.name} ${word}: ${charged}`);
    }
  }
});

Deno.test("header fields of the vendor are not passed to the caller", async () => {
  for (const face of CALLER_PROTOCOLS) {
    const { status, headers } = await ask(face, "headers");
    assertEquals(status, 200);
    for (const name of ["set-cookie", "content-encoding", "x-powered-by", "keep-alive"]) {
      assertEquals(headers.get(name), null, name);
    }
    assertEquals([headers.get("content-type"), headers.get("x-service-provider")], ["application/json", "scripted"]);
  }
});

Deno.test("a vendor that declares a wrong content coding breaks only that response", async () => {
  for (const face of CALLER_PROTOCOLS) {
    const { status, headers } = await ask(face, "lying");
    assert(status === 200 || status === 502, `${face.name}: ${status}`);
    assertEquals([headers.get("content-encoding"), headers.get("transfer-encoding")], [null, null]);
    assertEquals((await ask(face, "headers")).status, 200);
  }
});

Deno.test("the gateway's key and its account's name are removed from a vendor's messages", async () => {
  for (const face of CALLER_PROTOCOLS) {
    for (const stream of [false, true]) {
      for (const [word, status] of [["secret", 400], ["wrongKey", 401]] as const) {
        const answer = await ask(face, word, stream);
        assertEquals(answer.status, status);
        assert(!answer.text.includes(VENDOR_KEY) && !answer.text.includes(ORGANIZATION), answer.text);
      }
    }
    const { status, text } = await ask(face, "secretInStream", true);
    assertEquals(status, 200);
    assert(!text.includes(VENDOR_KEY), text);
    assertMatch(text, /error/);
  }
  assert(!gateway.logLines.join("\n").includes(VENDOR_KEY), "The log does not hold the key");
});

Deno.test("a stream without its end mark ends with an error event of each protocol, and the delivered part is charged", async () => {
  for (const word of ["noEnd", "halfFrame"]) {
    for (const face of CALLER_PROTOCOLS) {
      const before = await account.balance();
      const { status, text } = await ask(face, word, true);
      assertEquals(status, 200);
      assertStringIncludes(text, "one ");
      assertErrorEvent(face, text);
      const charged = before - await account.balance();
      assert(charged > 0n && charged < 100n * 20_000n, `${face.name} ${word}: ${charged}`);
    }
  }
});

Deno.test("line ends of any kind, comments, a byte order mark and a missing last blank line are accepted", async () => {
  for (const word of ["carriageReturns", "noFinalBlank"]) {
    for (const face of CALLER_PROTOCOLS) {
      const { status, text } = await ask(face, word, true);
      assertEquals(status, 200);
      assertStringIncludes(text, "one ");
      assertStringIncludes(text, "two");
      assert(!text.includes('"error":{'), `${face.name} ${word}: ${text}`);
    }
  }
});

Deno.test("a line without an end is stopped long before it is complete, and becomes an error event", async () => {
  for (const face of [CHAT, MESSAGES]) {
    endlessClosed = false;
    const { status, text } = await ask(face, "endless", true);
    assertEquals(status, 200);
    assert(text.length < 10_000_000, `${text.length} characters came through`);
    assertErrorEvent(face, text.slice(-2_000));
    assert(await eventually(() => endlessClosed));
  }
});

Deno.test({
  name: "the gateway and the vendor of these tests stop",
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    await gateway.stop();
    await vendor.stop();
  },
});

/** Checks the last event of a failed stream, in the format of each protocol. */
function assertErrorEvent(face: CallerProtocol, text: string): void {
  const last = text.trimEnd().split(/\r?\n\r?\n/).at(-1)!;
  switch (face.name) {
    case "chat":
      assertMatch(last, /^data: \{"error":\{"message":"/);
      return;
    case "responses":
      assertMatch(last, /^event: (error|response\.failed)\ndata: \{"type":"(error|response\.failed)"/);
      return;
    case "messages":
      assertMatch(last, /^event: error\ndata: \{"type":"error","error":\{"type":"/);
      return;
    case "content":
      assertMatch(last, /^data: \{"error":\{"code":5\d\d,/);
  }
}
