import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Clock, systemClock } from "../../src/platform/lib/basics/clock.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { textModel } from "../support/gateway.ts";
import { type LiveTestGateway, startLiveGateway } from "../support/live_gateway.ts";
import { answer, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { ioTurn } from "../support/io_turn.ts";
import { contentOf, provider, RELOAD, withGateway } from "./changed_gateway.ts";

async function reload(gateway: LiveTestGateway, sections: Readonly<Record<string, unknown>>): Promise<void> {
  gateway.write(sections);
  const { status, body } = await gateway.admin("POST", RELOAD);
  assertEquals(status, 200, JSON.stringify(body));
}

/** Sends a request of the account `demo`. */
function send(gateway: LiveTestGateway, path: string, body?: unknown): Promise<Response> {
  return fetch(gateway.address + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    ...body !== undefined && { body: JSON.stringify(body) },
  });
}

/** Runs the garbage collection of this process, after the objects that the current turn holds are free. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  await new Promise((resolve) => setTimeout(resolve, 0));
  runInNewContext("gc")();
}

/** The system's clock, with the number of timers that wait. */
function countingClock(): Clock & { readonly waiting: () => number } {
  const waiting = new Set<symbol>();
  return {
    ...systemClock,
    waiting: () => waiting.size,
    after(delayMs, callback) {
      const timer = Symbol();
      waiting.add(timer);
      const cancel = systemClock.after(delayMs, () => {
        waiting.delete(timer);
        callback();
      });
      return () => {
        waiting.delete(timer);
        cancel();
      };
    },
  };
}

/** A vendor that counts its open connections. It lists the model `two`. */
function startCountingVendor() {
  const open = { connections: 0 };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const reply = { id: "c", object: "chat.completion", created: 1, model: "one", usage };
  const choices = [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }];
  const vendor = startScriptedUpstream(async (side) => {
    open.connections++;
    for (let request = await side.request(); request !== null; request = await side.request()) {
      const body = request.method === "GET"
        ? { object: "list", data: [{ id: "two", object: "model" }] }
        : { ...reply, choices };
      await side.say(answer(200, JSON.stringify(body)));
    }
    open.connections--;
  });
  return { vendor, open };
}

Deno.test("a hundred reloads leave no configuration, timer or connection of an earlier one", async () => {
  const clock = countingClock();
  const { vendor, open } = startCountingVendor();
  const sections = (round: number) => ({
    providers: { acme: provider(vendor, `vendor-key-${round}`) },
    models: [textModel("acme/one", ["acme"]), { id: "acme/*", pricing: { prompt: "0.0001", completion: "0.0001" } }],
  });
  const gateway = await startLiveGateway({ sections: sections(0), clock });
  try {
    const changes = await gateway.app.configChanges?.();
    assert(changes);
    const earlier: WeakRef<object>[] = [];
    const timers: number[] = [];
    for (let round = 1; round <= 100; round++) {
      earlier.push(new WeakRef(changes.inForce.config));
      await reload(gateway, sections(round));
      assertEquals(contentOf(await gateway.chat("acme/one")), "hello");
      timers.push(clock.waiting());
    }
    // The list of models and the last request can each have a connection.
    while (open.connections > 2) await ioTurn();
    await collectGarbage();
    // That of the start is kept, as it settles what needs a restart.
    const kept = earlier.filter((reference) => reference.deref() !== undefined).length;
    assert(kept <= 3, `${kept} of 100 earlier configurations are kept`);
    assert(Math.max(...timers.slice(50)) <= Math.max(...timers.slice(0, 50)), `timers grow: ${timers}`);
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
});

Deno.test("a stream of a model that a reload drops ends well, and later requests for the model are 404", async () => {
  const streamEnd = Promise.withResolvers<void>();
  await withGateway(async ({ gateway, two }) => {
    const messages = [{ role: "user", content: "hi" }];
    const response = await send(gateway, "/v1/chat/completions", { model: "acme/one", stream: true, messages });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value ?? "";
    await reload(gateway, { providers: { second: provider(two) }, models: [textModel("acme/two", ["second"])] });
    assertEquals((await gateway.chat("acme/one")).status, 404);
    assertEquals(contentOf(await gateway.chat("acme/two")), "two");
    streamEnd.resolve();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
    assertStringIncludes(text, '"content":"one"');
    assertStringIncludes(text, "[DONE]");
    assertEquals(text.includes("error"), false);
  }, { streamEnd });
});

Deno.test("large requests, which threads answer, use the configuration of a reload", async () => {
  await withGateway(async ({ gateway, two }) => {
    const large = async (model: string) => {
      const messages = [{ role: "user", content: "word ".repeat(2_000) }];
      const response = await send(gateway, "/v1/chat/completions", { model, messages });
      return { status: response.status, body: await response.json() };
    };
    assertEquals(contentOf(await large("acme/one")), "one");
    assertEquals((await large("acme/two")).status, 404);
    await reload(gateway, { providers: { second: provider(two) }, models: [textModel("acme/two", ["second"])] });
    assertEquals(contentOf(await large("acme/two")), "two");
    assertEquals((await large("acme/one")).status, 404);
  }, { sections: { limits: { large_body: 4_000 } } });
});

Deno.test("limits.account_concurrency takes effect with a reload, for accounts with open requests too", async () => {
  const streamEnd = Promise.withResolvers<void>();
  await withGateway(async ({ gateway }) => {
    const messages = [{ role: "user", content: "hi" }];
    const open = await send(gateway, "/v1/chat/completions", { model: "acme/one", stream: true, messages });
    assertEquals((await gateway.chat("acme/one")).status, 429);
    gateway.write({ limits: { account_concurrency: 2 } });
    const { body } = await gateway.admin("POST", RELOAD);
    assertEquals(body.restart, []);
    assertEquals(body.changed, { limits: { account_concurrency: { value: { before: 1, after: 2 } } } });
    assertEquals((await gateway.chat("acme/one")).status, 200);
    await reload(gateway, { limits: { account_concurrency: 1 } });
    assertEquals((await gateway.chat("acme/one")).status, 429);
    streamEnd.resolve();
    await open.text();
  }, { streamEnd, sections: { limits: { account_concurrency: 1 } } });
});

/** A video vendor whose tasks run until the test ends them, and sections of a gateway that uses it. */
async function startVideoVendor() {
  const sandbox = await startSandbox({ port: 0 });
  const files = await Deno.makeTempDir();
  const polled = Promise.withResolvers<void>();
  let isRunning = true;
  const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === "GET" && isRunning) {
      polled.resolve();
      return Response.json({ id: pathname.split("/").at(-1), model: "seedance-sandbox", status: "running" });
    }
    const body = request.method === "GET" ? null : await request.text();
    const { method, headers } = request;
    return await fetch(new URL(pathname, sandbox.baseUrls.ark), { method, headers, body });
  });
  const { pathname } = new URL(sandbox.baseUrls.ark);
  const model = {
    id: "acme/video",
    video: { modes: ["text2video"], price_per_second: { default: "0.10" }, duration: { min: 2, max: 12, default: 5 } },
    serves: [{ provider: "ark", model: "seedance-sandbox" }],
  };
  const baseUrl = `http://127.0.0.1:${vendor.addr.port}${pathname}`;
  return {
    folder: files,
    sections: {
      files,
      providers: { ark: { kind: "ark", base_url: baseUrl, api_key: "sandbox-key-ark" } },
      models: [model],
      limits: { vendor_polling: { first: 0.02, least: 0.02, most: 0.05, per_second: 1_000 } },
      egress: { allow: ["127.0.0.1/32"] },
    },
    order: { model: "acme/video", prompt: "A lighthouse [[queue 0]] [[run 0]]" },
    /** Resolves with the first poll. */
    polled: polled.promise,
    endTasks: () => void (isRunning = false),
    async stop() {
      await vendor.shutdown();
      await sandbox.stop();
      await Deno.remove(files, { recursive: true });
    },
  };
}

async function moneyOf(gateway: LiveTestGateway): Promise<unknown[]> {
  const { balance, held } = (await gateway.admin("GET", "/accounts/demo")).body;
  return [balance, held];
}

Deno.test("a video task of a removed provider is polled with the provider's last settings, completes and is charged", async () => {
  const vendor = await startVideoVendor();
  const gateway = await startLiveGateway({ sections: vendor.sections });
  try {
    const created = await send(gateway, "/v1/videos", vendor.order);
    assertEquals(created.status, 202);
    const { id } = await created.json();
    await vendor.polled;
    await reload(gateway, { providers: {}, models: [] });
    assertEquals((await (await send(gateway, "/v1/videos", vendor.order)).json()).error.code, "model_not_found");
    vendor.endTasks();
    let task;
    do task = await (await send(gateway, `/v1/videos/${id}`)).json(); while (task.status !== "completed");
    assertEquals(task.usage.cost, 0.5);
    assertEquals(await moneyOf(gateway), ["24.5000000000", "0.0000000000"]);
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
});

Deno.test("after a restart, a video task of a removed provider expires at its deadline and its hold is released", async () => {
  const vendor = await startVideoVendor();
  const store = `kv:${vendor.folder}/gateway.db`;
  const before = await startLiveGateway({ sections: vendor.sections, store });
  const { id } = await (await send(before, "/v1/videos", vendor.order)).json();
  await vendor.polled;
  assertEquals(await moneyOf(before), ["24.5000000000", "0.5000000000"]);
  await before.stop();
  const clock = { ...systemClock, now: () => Date.now() + 25 * 3_600_000 };
  const gateway = await startLiveGateway({ sections: { ...vendor.sections, providers: {}, models: [] }, store, clock });
  try {
    let task;
    do task = (await gateway.admin("GET", `/tasks/${id}`)).body; while (task.ended_at === null);
    assertEquals(task.status, "expired");
    assertEquals(await moneyOf(gateway), ["25.0000000000", "0.0000000000"]);
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
});
