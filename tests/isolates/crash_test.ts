import { assert, assertEquals, assertMatch } from "@std/assert";
import { accountMoney, eventually } from "../support/account_money.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { stackOf } from "../../src/platform/lib/process/unhandled.ts";
import { longTest } from "../support/long_test.ts";
import type { Failure } from "./failing_thread.ts";

const ENTRY = new URL("./failing_thread.ts", import.meta.url);
const CHANNEL = "failing-isolates";
/** A heap that is used up within seconds. */
const HEAP_MEGABYTES = 96;

async function withFailing(test: (gateway: TestGateway, fail: (how: Failure) => void) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  const gateway = await startTestGateway({
    isolates: 2,
    isolateEntry: ENTRY,
    isolateHeapMegabytes: HEAP_MEGABYTES,
    store: `kv:${folder}/store.db`,
  });
  const channel = new BroadcastChannel(CHANNEL);
  try {
    await test(gateway, (how) => channel.postMessage(how));
  } finally {
    channel.close();
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

function post({ address, key }: TestGateway, path: string, body: unknown): Promise<Response> {
  return fetch(address + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "msg-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
}

const STREAM = {
  model: "sandbox/chat-1",
  stream: true,
  max_tokens: 100,
  messages: [{ role: "user", content: "[[gap 600000]] one two three" }],
};

/** Reads a stream until it has a text, then returns a promise of the rest. */
async function begun(response: Response, text: RegExp): Promise<{ readonly whole: Promise<string> }> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let read = "";
  while (!text.test(read)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`It ended: ${read}`);
    read += value;
  }
  return {
    whole: (async () => {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return read;
        read += value;
      }
    })(),
  };
}

async function loggedRows({ address, adminKey }: TestGateway) {
  const response = await fetch(`${address}/admin/v1/requests?account=demo`, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  const { data } = await response.json();
  return data as { id: string; status: number; end: string | null; cost: string | null; error: unknown }[];
}

for (const how of ["throw", "reject"] as const) {
  longTest(
    `isolates: after an error that nothing catches (${how}), streams go on, and it is reported with its stack`,
    () =>
      withFailing(async (gateway, fail) => {
        const reported: unknown[] = [];
        const take = (event: ErrorEvent) => {
          event.preventDefault();
          reported.push(event.error);
        };
        addEventListener("error", take);
        try {
          const messages = [{ role: "user", content: "[[stall 700]] one two three" }];
          const stream = await begun(await post(gateway, "/v1/chat/completions", { ...STREAM, messages }), /assistant/);
          fail(how);
          assertMatch(await stream.whole, /\[DONE\]/);
          await eventually(() => reported.length === 2);
          for (const error of reported) assertMatch(stackOf(error), /^ThreadError TypeError at .*failing_thread\.ts/);
          assertEquals(gateway.logLines.filter((line) => line.includes("isolate_failed")), []);
        } finally {
          removeEventListener("error", take);
        }
      }),
  );
}

longTest(
  "isolates: after a failure of state in a thread, streams end with an error event and are charged",
  () =>
    withFailing(async (gateway, fail) => {
      const money = accountMoney(gateway);
      const before = await money.balance();
      const chat = await begun(await post(gateway, "/v1/chat/completions", STREAM), /"role":"assistant"/);
      const message = await begun(
        await post(gateway, "/msgcompat/v1/messages", { ...STREAM, model: "sandbox/messages-1" }),
        /message_start/,
      );
      fail("state");
      assertMatch(await chat.whole, /"error":.*send the request again/);
      assertMatch(await message.whole, /event: error\n.*send the request again/);
      await eventually(async () => await isAlive(gateway));
      assert(await money.balance() < before);
      const rows = await loggedRows(gateway);
      assertEquals(rows.map(({ end }) => end), ["cut", "cut"]);
      await eventually(() => gateway.logLines.filter((line) => line.includes('"worker_crashed"')).length === 2);
      assertMatch(gateway.logLines.join("\n"), /"isolate_failed".*StateFailure/);
      assert(!gateway.logLines.some((line) => line.includes("of the test")));
      assertEquals(await servedBy(gateway), 200);
      const { reserved } = await (await fetch(`${gateway.address}/v1/credits`, {
        headers: { authorization: `Bearer ${gateway.key}` },
      })).json();
      assertEquals(Number(reserved), 0);
    }),
);

longTest(
  "isolates: the stream of a large request ends with an error event when the thread of its caller fails, and is charged",
  () =>
    withFailing(async (gateway, fail) => {
      const money = accountMoney(gateway);
      const before = await money.balance();
      const messages = [{ role: "user", content: "word ".repeat(500_000) }, ...STREAM.messages];
      const { whole } = await begun(
        await post(gateway, "/v1/chat/completions", { ...STREAM, messages }),
        /"role":"assistant"/,
      );
      fail("state");
      assertMatch(await whole, /"error":.*send the request again/);
      await eventually(async () => await isAlive(gateway));
      await eventually(async () => await money.balance() < before);
      assertEquals((await loggedRows(gateway)).length, 1);
    }),
);

longTest(
  "isolates: a thread without memory is replaced, its streams end, and they are charged",
  () =>
    withFailing(async (gateway, fail) => {
      const money = accountMoney(gateway);
      const before = await money.balance();
      const { whole } = await begun(await post(gateway, "/v1/chat/completions", STREAM), /"role":"assistant"/);
      fail("exhaust");
      await whole.catch(() => {}); // the platform may end the thread before it can write an error event
      await eventually(() => gateway.logLines.filter((line) => line.includes("ERR_WORKER_OUT_OF_MEMORY")).length === 2);
      await eventually(async () => await isAlive(gateway));
      assertEquals(await servedBy(gateway), 200);
      await eventually(async () => await money.balance() < before);
      const { reserved } = await (await fetch(`${gateway.address}/v1/credits`, {
        headers: { authorization: `Bearer ${gateway.key}` },
      })).json();
      assertEquals(Number(reserved), 0);
    }),
);

longTest(
  "isolates: a whole reply that is under way when its thread fails is complete",
  () =>
    withFailing(async (gateway, fail) => {
      const reply = post(gateway, "/v1/chat/completions", {
        ...STREAM,
        stream: false,
        messages: [{ role: "user", content: "[[stall 700]] one" }],
      });
      await eventually(() => gateway.sandbox.requests.length > 0);
      fail("state");
      const response = await reply;
      assertEquals(response.status, 200);
      await response.text();
    }),
);

longTest(
  "isolates: a thread that ends at once leaves a row of its open requests, its charges, and nothing reserved",
  () =>
    withFailing(async (gateway, fail) => {
      const money = accountMoney(gateway);
      for (let n = 0; n < 10; n++) assertEquals(await servedBy(gateway), 200);
      const before = await money.balance();
      const open = await post(gateway, "/v1/chat/completions", STREAM);
      const id = open.headers.get("x-service-request-id");
      const { whole } = await begun(open, /"role":"assistant"/);
      await new Promise((resolve) => setTimeout(resolve, 200)); // it is announced
      fail("exit");
      await whole.catch(() => {});
      await eventually(async () => await isAlive(gateway));
      await eventually(async () => (await loggedRows(gateway)).some((row) => row.id === id));
      const row = (await loggedRows(gateway)).find((each) => each.id === id);
      assertEquals([row?.status, row?.cost], [200, null]);
      assertMatch(JSON.stringify(row?.error), /The thread that answered the request ended/);
      assertEquals(await servedBy(gateway), 200);
      const { reserved } = await (await fetch(`${gateway.address}/v1/credits`, {
        headers: { authorization: `Bearer ${gateway.key}` },
      })).json();
      assertEquals(Number(reserved), 0);
      assert(await money.balance() < before); // of the last reply
    }),
);

/** Whether a thread accepts connections. */
async function isAlive({ address }: TestGateway): Promise<boolean> {
  const response = await fetch(`${address}/healthz`).catch(() => null);
  await response?.body?.cancel();
  return response?.status === 200;
}

longTest(
  "isolates: what a thread has charged a moment before it ends at once is charged, once",
  () =>
    withFailing(async (gateway, fail) => {
      const money = accountMoney(gateway);
      const start = await money.balance();
      for (let n = 0; n < 10; n++) assertEquals(await servedBy(gateway), 200);
      const cost = (start - await money.balance()) / 10n;
      let charged = 10n;
      for (let n = 0; n < 3; n++) {
        for (let calls = 0; calls < 4; calls++, charged++) assertEquals(await servedBy(gateway), 200);
        const crashes = () => gateway.logLines.filter((line) => line.includes('"worker_crashed"')).length;
        const before = crashes();
        fail("exit");
        await eventually(() => crashes() > before);
        await eventually(async () => await isAlive(gateway));
        assertEquals(await money.balance(), start - charged * cost);
      }
    }),
);

/** Sends a small request, and returns the status of its reply. */
async function servedBy(gateway: TestGateway): Promise<number> {
  const response = await post(gateway, "/v1/chat/completions", {
    model: "sandbox/chat-1",
    max_tokens: 5,
    messages: [{ role: "user", content: "hi" }],
  });
  await response.text();
  return response.status;
}
