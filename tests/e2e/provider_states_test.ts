import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { textModel } from "../support/gateway.ts";
import { type LiveTestGateway, startLiveGateway } from "../support/live_gateway.ts";
import { contentOf, provider, RELOAD, startVendor } from "./changed_gateway.ts";

interface Parts {
  readonly gateway: LiveTestGateway;
  readonly sections: Readonly<Record<string, unknown>>;
}

/** A gateway with two vendors: `acme/both` is served by both, `acme/one` by the first, with a fallback, or without. */
async function withVendors(
  test: (parts: Parts) => Promise<void>,
  options: { readonly isolates?: number; readonly streamEnds?: Promise<void> } = {},
): Promise<void> {
  const [one, two] = [startVendor("one", options.streamEnds), startVendor("two")];
  const sections = {
    providers: { first: provider(one), second: provider(two, "vendor-key-two") },
    models: [
      textModel("acme/both", ["first", "second"]),
      textModel("acme/one", ["first"]),
      { ...textModel("acme/safe", ["first"]), fallbacks: ["acme/two"] },
      textModel("acme/two", ["second"]),
    ],
    request_log: {},
  };
  const gateway = await startLiveGateway({ sections, ...options.isolates && { isolates: options.isolates } });
  try {
    await test({ gateway, sections });
  } finally {
    await gateway.stop();
    await one.stop();
    await two.stop();
  }
}

const setState = (gateway: LiveTestGateway, name: string, state: string) =>
  gateway.admin("PUT", `/providers/${name}/state`, { state });

interface Listed {
  readonly name: string;
  readonly service: {
    readonly state: string;
    readonly by: string | null;
    readonly since: number | null;
    readonly reason: string | null;
  };
}

async function serviceOf(gateway: LiveTestGateway, name: string): Promise<Listed["service"] | undefined> {
  const { body } = await gateway.admin("GET", "/providers");
  return (body.data as Listed[]).find((each) => each.name === name)?.service;
}

async function post(gateway: LiveTestGateway, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(gateway.address + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, id: response.headers.get("x-request-id"), body: await response.json() };
}

const PIN = { "x-service-provider-type": "first" };
const CHAT = { model: "acme/both", messages: [{ role: "user", content: "hi" }] };

for (const isolates of [1, 2]) {
  Deno.test(`a drained provider gets no requests with ${isolates} threads, until it is on again`, () =>
    withVendors(async ({ gateway }) => {
      const { status, body } = await setState(gateway, "first", "drain");
      assertEquals([status, body.state, body.by], [200, "drain", "default"]);
      for (let sent = 0; sent < 8; sent++) assertEquals(contentOf(await gateway.chat("acme/both")), "two");
      assertEquals(contentOf(await gateway.chat("acme/safe")), "two");
      assertEquals(contentOf(await gateway.chat("acme/two")), "two");
      const refused = await gateway.chat("acme/one");
      assertEquals(refused.status, 503);
      assertStringIncludes(JSON.stringify(refused.body), 'the operator has taken provider \\"first\\" out of service');
      assertEquals((await setState(gateway, "first", "on")).status, 200);
      assertEquals(contentOf(await gateway.chat("acme/one")), "one");
    }, { isolates }));
}

const PINNED: readonly [protocol: string, path: string, body: unknown, code: RegExp][] = [
  ["chat", "/v1/chat/completions", CHAT, /"code":"provider_type_unavailable"/],
  ["responses", "/v1/responses", { model: "acme/both", input: "hi" }, /"code":"provider_type_unavailable"/],
  ["messages", "/v1/messages", { ...CHAT, max_tokens: 9 }, /"type":"provider_type_unavailable"/],
  [
    "content",
    "/v1beta/models/acme/both:generateContent",
    { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    /"type":"provider_type_unavailable"/,
  ],
];

Deno.test("a pin to a drained provider is refused with the reason, in each protocol", () =>
  withVendors(async ({ gateway }) => {
    await setState(gateway, "first", "drain");
    for (const [protocol, path, body, code] of PINNED) {
      const { status, body: answer } = await post(gateway, path, body, { ...PIN, "anthropic-version": "2023-06-01" });
      const text = JSON.stringify(answer);
      assertEquals([protocol, status], [protocol, 400]);
      assertMatch(text, code);
      assertStringIncludes(text, "out of service");
    }
  }));

Deno.test("explain says who has drained a provider and since when, and who has in the file", () =>
  withVendors(async ({ gateway, sections }) => {
    const before = Math.floor(Date.now() / 1_000);
    const { body: { since } } = await setState(gateway, "first", "drain");
    assertEquals((since as number) >= before, true);
    const candidates = async (model: string) => {
      const { id } = await post(gateway, "/v1/chat/completions", { ...CHAT, model });
      const { body } = await gateway.admin("GET", `/requests/${id}`);
      return (body.routes as { candidates: Record<string, unknown>[] }[])[0]?.candidates[0];
    };
    assertEquals(await candidates("acme/both"), { provider: "first", weight: 1, state: "drain", by: "default", since });
    await gateway.admin("DELETE", "/providers/first/state");
    const providers = sections.providers as Record<string, Record<string, unknown>>;
    gateway.write({ providers: { ...providers, first: { ...providers.first, state: "off" } } });
    const reloaded = await gateway.admin("POST", RELOAD);
    assertEquals(reloaded.body.changed, { providers: { first: { state: { before: null, after: "off" } } } });
    const found = await candidates("acme/both");
    assertEquals([found?.state, found?.by, typeof found?.since], ["off", null, "number"]);
    // A later reload keeps since when.
    await gateway.admin("POST", RELOAD);
    assertEquals((await candidates("acme/both"))?.since, found?.since);
    // What the admin API sets has precedence over the file.
    await setState(gateway, "first", "on");
    assertEquals(contentOf(await gateway.chat("acme/one")), "one");
  }));

Deno.test("a stream under way ends at a provider that is drained and switched off meanwhile", async () => {
  const ends = Promise.withResolvers<void>();
  await withVendors(async ({ gateway }) => {
    const response = await fetch(`${gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...CHAT, model: "acme/one", stream: true }),
    });
    await setState(gateway, "first", "drain");
    await setState(gateway, "first", "off");
    assertEquals((await gateway.chat("acme/one")).status, 503);
    ends.resolve();
    const text = await response.text();
    assertStringIncludes(text, "one");
    assertStringIncludes(text, "[DONE]");
  }, { streamEnds: ends.promise });
});

Deno.test("the state of a provider shows who set it first, and survives other changes of the settings", () =>
  withVendors(async ({ gateway }) => {
    assertEquals(await serviceOf(gateway, "first"), { state: "on", by: null, since: null, reason: null });
    const first = (await setState(gateway, "first", "drain")).body;
    const { version } = (await gateway.admin("GET", "/config")).body;
    assertEquals((await setState(gateway, "first", "drain")).body, first);
    assertEquals((await gateway.admin("GET", "/config")).body.version, version);
    assertEquals(await serviceOf(gateway, "first"), {
      state: "drain",
      by: "default",
      since: first.since as number,
      reason: null,
    });
    assertEquals((await gateway.admin("PUT", "/config", { aliases: { mine: "acme/two" } })).status, 200);
    assertEquals((await serviceOf(gateway, "first"))?.state, "drain");
    await setState(gateway, "first", "off");
    assertEquals((await gateway.admin("POST", `/config/versions/${version}/restore`)).status, 200);
    assertEquals((await serviceOf(gateway, "first"))?.state, "off");
    const { body: { data } } = await gateway.admin("GET", "/audit?limit=20");
    const entry = (data as Record<string, unknown>[]).find(({ path }) => String(path).endsWith("/first/state"));
    assertEquals((entry?.after as Record<string, unknown>)?.state ?? JSON.stringify(entry), "off");
  }));

Deno.test("the state of a provider has a reason, which a repeat can change", () =>
  withVendors(async ({ gateway }) => {
    const set = (body: unknown) => gateway.admin("PUT", "/providers/first/state", body);
    const { body: first } = await set({ state: "drain", reason: " moving to another region " });
    assertEquals(first.reason, "moving to another region");
    const { body: repeated } = await set({ state: "drain" });
    assertEquals(repeated, first);
    const { body: changed } = await set({ state: "drain", reason: "moved" });
    assertEquals(changed, { ...first, reason: "moved" });
    assertEquals((await serviceOf(gateway, "first"))?.reason, "moved");
    assertEquals((await set({ state: "off" })).body.reason, null);
    assertEquals((await set({ state: "off", reason: "x".repeat(201) })).status, 400);
  }));

Deno.test("a state is refused for an unknown provider or word", () =>
  withVendors(async ({ gateway }) => {
    const unknown = await setState(gateway, "third", "drain");
    assertEquals(unknown.status, 404);
    assertStringIncludes(JSON.stringify(unknown.body), "first");
    const word = await setState(gateway, "first", "pause");
    assertEquals(word.status, 400);
    assertStringIncludes(JSON.stringify(word.body), 'expected \\"on\\", \\"drain\\", \\"off\\"');
  }));

Deno.test("readiness and metrics show a drained provider", () =>
  withVendors(async ({ gateway }) => {
    await setState(gateway, "first", "drain");
    const asOperator = { headers: { authorization: `Bearer ${gateway.adminKey}` } };
    const { body } = await gateway.admin("GET", "/providers");
    assertEquals((body.data as Listed[]).map(({ name, service }) => [name, service.state]), [
      ["first", "drain"],
      ["second", "on"],
    ]);
    const ready = await (await fetch(`${gateway.address}/readyz?verbose`, asOperator)).json();
    assertEquals(ready.status, "ready");
    assertEquals(ready.providers.map(({ service }: { service: string }) => service), ["drain", "on"]);
    const metrics = await (await fetch(`${gateway.address}/metrics`, asOperator)).text();
    assertStringIncludes(metrics, 'switchyard_provider_halted{provider="first",state="drain"} 1');
  }));

Deno.test("the state of a provider survives a restart", async () => {
  const folder = await Deno.makeTempDir();
  const vendor = startVendor("one");
  const sections = {
    providers: { first: provider(vendor) },
    models: [textModel("acme/one", ["first"])],
    files: `${folder}/files`,
  };
  const options = { sections, store: `kv:${folder}/store.db`, adminKey: newApiKey() };
  try {
    const before = await startLiveGateway(options);
    const { body } = await setState(before, "first", "drain");
    await before.stop();
    const after = await startLiveGateway(options);
    const service = await serviceOf(after, "first");
    const { status } = await after.chat("acme/one");
    await after.stop();
    assertEquals([service, status], [
      { state: "drain", by: "default", since: body.since as number, reason: null },
      503,
    ]);
  } finally {
    await vendor.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

/** A gateway in front of the simulated vendor of videos. */
async function withVideos(
  test: (gateway: LiveTestGateway, creates: () => number) => Promise<void>,
): Promise<void> {
  const sandbox = await startSandbox({ port: 0 });
  const folder = await Deno.makeTempDir();
  const gateway = await startLiveGateway({
    sections: {
      files: folder,
      egress: { allow: ["127.0.0.1/32"] },
      limits: { vendor_polling: { first: 0.02, least: 0.02, most: 0.05, per_second: 1_000 } },
      providers: { ark: { kind: "ark", base_url: sandbox.baseUrls.ark, api_key: "sandbox-key-ark" } },
      models: [{
        id: "sandbox/video-1",
        video: {
          modes: ["text2video"],
          duration: { min: 2, max: 12, default: 5 },
          price_per_second: { "480p": "0.05", "720p": "0.10" },
        },
        serves: [{ provider: "ark", model: "seedance-sandbox" }],
      }],
    },
  });
  const creates = () => sandbox.requests.filter(({ method, path }) => method === "POST" && path.startsWith("/ark/"));
  try {
    await test(gateway, () => creates().length);
  } finally {
    await gateway.stop();
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

for (const state of ["drain", "off"]) {
  Deno.test(`a video that a vendor makes is polled to the end in state ${state}, and a new one is refused`, () =>
    withVideos(async (gateway, creates) => {
      const body = { model: "sandbox/video-1", prompt: "A lighthouse [[queue 300]] [[run 300]]" };
      const { body: task, status } = await post(gateway, "/v1/videos", body);
      assertEquals([status, typeof task.id], [202, "string"]);
      while (creates() === 0) await pause();
      await setState(gateway, "ark", state);
      const refused = await post(gateway, "/v1/videos", body);
      assertEquals(refused.status, 503);
      assertStringIncludes(JSON.stringify(refused.body), "out of service");
      assertEquals((await endOf(gateway, task.id)).status, "completed");
    }));
}

for (const [state, ends] of [["drain", "completed"], ["off", "failed"]] as const) {
  Deno.test(`a video that waits for its only provider is ${ends} if that is in state ${state}`, () =>
    withVideos(async (gateway, creates) => {
      const body = { model: "sandbox/video-1", prompt: "Busy [[queue 0]] [[run 0]] [[fail 429 2]]" };
      const { body: task } = await post(gateway, "/v1/videos", body);
      while (creates() === 0) await pause();
      await setState(gateway, "ark", state);
      const { status, error } = await endOf(gateway, task.id);
      assertEquals([status, error?.code ?? null], [ends, ends === "failed" ? "route_error" : null]);
    }));
}

interface Task {
  readonly status: string;
  readonly error: { readonly code: string } | null;
}

async function endOf(gateway: LiveTestGateway, id: string): Promise<Task> {
  // Ends when the task does, or with the time limit of the test.
  while (true) {
    const response = await fetch(`${gateway.address}/v1/videos/${id}`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    const task: Task = await response.json();
    if (["completed", "failed", "cancelled", "expired"].includes(task.status)) return task;
    await pause();
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
