import { longTest } from "../support/long_test.ts";
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { useReplyRunner } from "../../src/services/texts/large_replies/reply_runner.ts";
import { accountMoney } from "../support/account_money.ts";
import { EventLoopTurns } from "../support/event_loop_turns.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { StepMeasure } from "../support/step_measure.ts";
import { answer, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { type CallerProtocol, CHAT, CONTENT, MESSAGES, RESPONSES } from "./caller_protocols.ts";

/** What a thread that has other callers does in one step. */
const MAX_STEP = 1_100_000;
const MODEL = "sandbox/large-1";

const USAGE = { prompt_tokens: 1_000, completion_tokens: 2_000, total_tokens: 3_000 };
/** 30 MB, with characters of several bytes and escapes. */
const LONG_TEXT = 'Grüße, "Welt"! 🎈\n'.repeat(1_250_000);

const UNITS_PER_USD = 10n ** 10n;

/** A chat completion. `extra` is more of its members, as JSON. */
function completion(content: string, extra = "", usage: unknown = USAGE): string {
  const choice = { index: 0, message: { role: "assistant", content }, finish_reason: "stop" };
  const counted = usage === null ? "" : `,"usage":${JSON.stringify(usage)}`;
  return `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[${
    JSON.stringify(choice)
  }]${extra}${counted}}`;
}

/** A gateway whose vendor answers with a reply, and what its threads did at most in one step. */
async function withVendor(
  isolates: number,
  reply: string,
  test: (gateway: TestGateway, maxStep: () => number) => Promise<void>,
): Promise<void> {
  const bytes = Buffer.from(answer(200, reply));
  const vendor = startScriptedUpstream(async (side) => {
    while (await side.request() !== null) await side.say(bytes);
  });
  const gateway = await startTestGateway({
    isolates,
    ...isolates > 1 && { isolateEntry: new URL("../isolates/measuring_thread.ts", import.meta.url) },
    balance: "1000.00",
    config: {
      providers: { large: { kind: "openai", base_url: vendor.baseUrl, api_key: "vendor-key-1", speaks: "chat" } },
      models: [textModel(MODEL, ["large"])],
      limits: { memory: "2GB" },
    },
  });
  const channel = new BroadcastChannel("measuring-isolates");
  let inIsolates = 0;
  channel.onmessage = ({ data }: MessageEvent<number>) => inIsolates = Math.max(inIsolates, data);
  const own = new StepMeasure();
  try {
    await test(gateway, () => Math.max(own.maxLength, inIsolates));
  } finally {
    own[Symbol.dispose]();
    channel.close();
    await gateway.stop();
    await vendor.stop();
  }
}

/** Sends a request. The reply is read in pieces and neither parsed nor checked, since this thread is measured. */
async function ask({ address, key }: TestGateway, face: CallerProtocol) {
  const body = JSON.stringify(face.body(MODEL, "Hello"));
  const response = await fetch(address + face.path(MODEL), { method: "POST", headers: face.headers(key), body });
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body ?? []) pieces.push(piece);
  return { response, bytes: Buffer.concat(pieces) };
}

for (const isolates of [1, 2]) {
  longTest(
    `a reply of 30 MB passes through unchanged and is charged, without a step that delays others, ${isolates} threads`,
    async () => {
      const reply = completion(LONG_TEXT);
      await withVendor(isolates, reply, async (gateway, maxStep) => {
        using turns = new EventLoopTurns();
        const { response, bytes } = await ask(gateway, CHAT);
        assertEquals(response.status, 200);
        assertEquals(response.headers.get("content-length"), String(bytes.length));
        assert(bytes.equals(Buffer.from(reply)));
        turns.assertAbout(bytes.length / 2_000_000);
        assert(maxStep() <= MAX_STEP, `${maxStep()} in one step`);
        await assertCharged(gateway, response);
      });
    },
  );

  longTest(
    `a reply of 30 MB is translated and charged, without a step that delays others, ${isolates} threads`,
    async (t) => {
      await withVendor(isolates, completion(LONG_TEXT), async (gateway, maxStep) => {
        const replies: [CallerProtocol, Buffer][] = [];
        for (const face of [RESPONSES, MESSAGES, CONTENT]) {
          const { response, bytes } = await ask(gateway, face);
          assertEquals(response.status, 200);
          await assertCharged(gateway, response);
          replies.push([face, bytes]);
        }
        assert(maxStep() <= MAX_STEP, `${maxStep()} in one step`);
        for (const [face, bytes] of replies) {
          await t.step(face.name, () => {
            const text = face.textIn(JSON.parse(bytes.toString()));
            assertEquals([text.length, text === LONG_TEXT], [LONG_TEXT.length, true]);
          });
        }
      });
    },
  );

  Deno.test(`a reply of a megabyte of small values is read in a thread, ${isolates} threads`, async () => {
    const reply = completion("Hello there", `,"junk":[${"[],".repeat(300_000)}[]]`);
    await withVendor(isolates, reply, async (gateway, maxStep) => {
      const { response, bytes } = await ask(gateway, CHAT);
      assertEquals([response.status, bytes.toString()], [200, reply]);
      const other = await ask(gateway, MESSAGES);
      assert(maxStep() < 300_000, `${maxStep()} in one step`);
      assertEquals(MESSAGES.textIn(JSON.parse(other.bytes.toString())), "Hello there");
      await assertCharged(gateway, response);
    });
  });
}

Deno.test("a large reply without usage is charged by its text, as a small one is", async () => {
  const large = completion("a word ".repeat(300_000), "", null);
  await withVendor(1, large, async (gateway) => {
    const costs = [];
    for (const face of [CHAT, MESSAGES]) {
      const { response } = await ask(gateway, face);
      assertEquals(response.status, 200);
      costs.push(Number(response.headers.get("x-service-cost")));
    }
    // Two tokens for each repetition, within what is extrapolated.
    const [passed = 0, translated = 0] = costs;
    const each = 0.000_002;
    assert(passed > 0 && Math.abs(passed - translated) < 100 * each, `${passed} and ${translated}`);
  });
});

Deno.test("a large reply that is none of its format costs nothing", async () => {
  const broken = completion(LONG_TEXT).slice(0, -2);
  const other = `{"junk":"${"x".repeat(2_000_000)}"}`;
  for (const reply of [broken, other]) {
    await withVendor(1, reply, async (gateway) => {
      for (const face of [CHAT, MESSAGES]) assertEquals((await ask(gateway, face)).response.status, 502);
      const { balance } = accountMoney(gateway);
      assertEquals(await balance(), 1_000n * UNITS_PER_USD);
    });
  }
});

Deno.test("a large reply that no thread can read is charged by its size, and its caller gets 503", async () => {
  await withVendor(1, completion("a word ".repeat(300_000)), async (gateway) => {
    const restore = useReplyRunner(() => Promise.resolve({ unavailable: "crashed" }));
    try {
      for (const face of [CHAT, MESSAGES]) {
        const { response } = await ask(gateway, face);
        assertEquals([response.status, response.headers.get("retry-after")], [503, "5"]);
        const charge = await accountMoney(gateway).latestCharge();
        assertEquals(charge?.usage.output_tokens, Math.ceil(completion("a word ".repeat(300_000)).length / 4));
      }
    } finally {
      restore();
    }
  });
});

/** In USD, of {@linkcode USAGE}. */
const COST = "0.0050000000";

async function assertCharged(gateway: TestGateway, response: Response): Promise<void> {
  assertEquals(response.headers.get("x-service-cost"), COST);
  assertEquals((await accountMoney(gateway).latestCharge())?.cost, COST);
}
