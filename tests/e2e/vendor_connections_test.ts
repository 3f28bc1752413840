import { assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";
import { ioTurn } from "../support/io_turn.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { eventually } from "../support/account_money.ts";
import {
  answer,
  type ScriptedUpstream,
  startScriptedUpstream,
  type VendorConnection,
} from "../support/scripted_upstream.ts";
import { CHAT } from "./caller_protocols.ts";

/** A reply of the chat format whose text names its request. */
function reply(text: string): string {
  const choices = [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  return answer(200, JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices, usage }));
}

/** The same as a chunked stream, so that its connection can be kept. */
function streamed(text: string): string {
  const frames = [
    { choices: [{ index: 0, delta: { content: text }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
  ].map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("") + "data: [DONE]\n\n";
  const size = new TextEncoder().encode(frames).length.toString(16);
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  return `${head}${size}\r\n${frames}\r\n0\r\n\r\n`;
}

interface Callers {
  readonly vendor: ScriptedUpstream;
  /** Sends a request of one of two accounts. */
  ask(account: "first" | "second", text: string, stream?: boolean): Promise<{ status: number; text: string }>;
  /** The charges of an account, as a decimal. */
  balance(account: "first" | "second"): Promise<string>;
}

/** Runs a test with a gateway with two accounts in front of a vendor that follows a script. */
async function withCallers(
  script: (side: VendorConnection) => Promise<void>,
  test: (callers: Callers) => Promise<void>,
  clock?: ManualClock,
): Promise<void> {
  const vendor = startScriptedUpstream(script);
  const keys = { first: newApiKey(), second: newApiKey() };
  const gateway = await startTestGateway({
    ...(clock && { clock }),
    config: {
      accounts: Object.entries(keys).map(([id, key]) => ({ id, balance: "1.00", keys: [key] })),
      providers: { scripted: { kind: "openai", base_url: vendor.baseUrl, api_key: "vk-123456789", speaks: "chat" } },
      models: [textModel("sandbox/scripted", ["scripted"])],
    },
  });
  try {
    await test({
      vendor,
      async ask(account, text, stream = false) {
        const response = await fetch(gateway.address + CHAT.path("sandbox/scripted", stream), {
          method: "POST",
          headers: CHAT.headers(keys[account]),
          body: JSON.stringify(CHAT.body("sandbox/scripted", text, stream)),
        });
        return { status: response.status, text: await response.text() };
      },
      async balance(account) {
        const response = await fetch(`${gateway.address}/admin/v1/accounts/${account}`, {
          headers: { authorization: `Bearer ${gateway.adminKey}` },
        });
        return (await response.json()).balance;
      },
    });
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
}

/** Unsolicited bytes, as vendors and their load balancers send them over an idle connection. */
const UNSOLICITED: Readonly<Record<string, string>> = {
  "a second reply": reply("stray"),
  "a 408 of a load balancer": "HTTP/1.1 408 Request Time-out\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
  "empty lines": "\r\n\r\n",
  "half a reply": "HTTP/1.1 200 OK\r\ncontent-le",
};

for (const stream of [false, true]) {
  for (const [what, bytes] of Object.entries(UNSOLICITED)) {
    const kind = stream ? "a stream" : "a whole reply";
    Deno.test(`another account's next call gets its own answer when a vendor sends ${what} after ${kind}`, async () => {
      const { promise: isFirstOver, resolve: firstIsOver } = Promise.withResolvers<void>();
      let isDiscarded = false;
      await withCallers(async (side) => {
        await side.request();
        await side.say(stream ? streamed("own") : reply("own"));
        if (side.nth > 0) return;
        await isFirstOver;
        await side.say(bytes);
        await side.gone();
        isDiscarded = true;
      }, async ({ vendor, ask, balance }) => {
        const first = await ask("first", "one", stream);
        assertEquals([first.status, first.text.includes("own")], [200, true]);
        firstIsOver();
        await eventually(() => isDiscarded);
        const before = await balance("second");
        const second = await ask("second", "two", stream);
        assertEquals([second.status, second.text.includes("own"), second.text.includes("stray")], [200, true, false]);
        assertEquals([vendor.seen.length, vendor.connections, before], [2, 2, "1.0000000000"]);
      }, new ManualClock());
    });
  }
}

Deno.test("another account's next call gets its own answer when a reply and an unsolicited one arrive in one read", async () => {
  await withCallers(async (side) => {
    while (await side.request()) await side.say(reply(`own ${side.nth}`) + reply("stray"));
  }, async ({ vendor, ask }) => {
    for (const account of ["first", "second", "first"] as const) {
      const { status, text } = await ask(account, "hello");
      assertEquals([status, text.includes("own"), text.includes("stray")], [200, true, false]);
    }
    assertEquals([vendor.seen.length, vendor.connections], [3, 3]);
  });
});

Deno.test("a chat request whose reused connection breaks after sending is not resent by the client", async () => {
  await withCallers(async (side) => {
    await side.request();
    await side.say(reply("own"));
    await side.request(); // and closes the connection
  }, async ({ vendor, ask }) => {
    assertEquals((await ask("first", "one")).status, 200);
    assertEquals((await ask("second", "two")).status, 502);
    assertEquals(vendor.seen.length, 2);
  }, new ManualClock());
});

Deno.test("a chat request uses a new connection when the vendor closed the idle one before", async () => {
  let closed = 0;
  await withCallers(async (side) => {
    await side.request();
    await side.say(reply("own"));
    side.close();
    closed++;
  }, async ({ vendor, ask }) => {
    for (const [turn, account] of (["first", "second", "first"] as const).entries()) {
      assertEquals((await ask(account, "hello")).status, 200);
      await eventually(() => closed > turn);
      await ioTurn();
    }
    assertEquals(vendor.seen.length, 3);
  }, new ManualClock());
});

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Failures of a first provider of images or caches, and whether a second one may be called. */
const FAILURES: readonly (readonly [what: string, reply: string | null, isOfferedElsewhere: boolean])[] = [
  ["closes the connection after the request", null, false],
  ["cuts its answer", "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{", false],
  ["answers what is no HTTP", "hello\r\n\r\n", false],
  ["answers what is no reply", answer(200, "<html>"), false],
  ["answers 502, as a server in front of it does", answer(502, ""), false],
  ["answers 504, as a server in front of it does", answer(504, ""), false],
  ["answers 500", answer(500, "{}"), true],
  ["answers 503", answer(503, "{}"), true],
  ["answers 429", answer(429, "{}"), true],
];

for (const [what, bytes, isOfferedElsewhere] of FAILURES) {
  const outcome = isOfferedElsewhere ? "are offered to" : "are kept from";
  Deno.test(`images and caches ${outcome} another provider when the first ${what}`, async () => {
    const failing = startScriptedUpstream(async (side) => {
      while (await side.request()) {
        if (bytes === null) return;
        await side.say(bytes);
        if (!bytes.includes("content-length: 0") && !bytes.includes("{}")) return;
      }
    });
    const image = answer(200, JSON.stringify({ created: 1, data: [{ b64_json: PIXEL }] }));
    const cache = answer(200, JSON.stringify({ name: "cachedContents/x", usageMetadata: { totalTokenCount: 5_000 } }));
    const working = startScriptedUpstream(async (side) => {
      for (let request; (request = await side.request()) !== null;) {
        await side.say(request.path.includes("cachedContents") ? cache : image);
      }
    });
    const addressOf = ({ port }: ScriptedUpstream) => `http://127.0.0.1:${port}`;
    const inOrder = (first: string, second: string) => [{ provider: first }, { provider: second, weight: 0 }];
    const gateway = await startTestGateway({
      config: {
        providers: {
          "bad-openai": { kind: "openai", base_url: `${addressOf(failing)}/v1`, api_key: "vk-1" },
          "good-openai": { kind: "openai", base_url: `${addressOf(working)}/v1`, api_key: "vk-2" },
          "bad-google": { kind: "google", base_url: addressOf(failing), api_key: "vk-3" },
          "good-google": { kind: "google", base_url: addressOf(working), api_key: "vk-4" },
        },
        models: [
          {
            id: "sandbox/painter",
            image: {},
            pricing: { per_image: "0.01" },
            serves: inOrder("bad-openai", "good-openai"),
          },
          { id: "sandbox/reader", pricing: PRICING, serves: inOrder("bad-google", "good-google") },
        ],
      },
    });
    const post = async (path: string, body: unknown) => {
      const response = await fetch(gateway.address + path, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: response.status, text: await response.text() };
    };
    try {
      const picture = await post("/v1/images/generations", {
        model: "sandbox/painter",
        prompt: "a fox",
        quality: "low",
      });
      const contents = [{ role: "user", parts: [{ text: "word ".repeat(5_000) }] }];
      const cached = await post("/gencompat/v1beta/cachedContents", { model: "models/sandbox/reader", contents });
      const told = `${picture.text} ${cached.text}`;
      assertEquals([picture.status < 300, cached.status < 300], [isOfferedElsewhere, isOfferedElsewhere], told);
      const isCreate = ({ method, path }: { method: string; path: string }) =>
        method === "POST" && /generations$|cachedContents$/.test(path);
      assertEquals(failing.seen.filter(isCreate).length, 2);
      assertEquals(working.seen.filter(isCreate).length, isOfferedElsewhere ? 2 : 0);
    } finally {
      await gateway.stop();
      await failing.stop();
      await working.stop();
    }
  });
}
