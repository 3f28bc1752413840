import { assertEquals } from "@std/assert";
import { eventually } from "../support/account_money.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { admin, ownList, pricingOf, startPricedGateway, startPriceServer } from "./support.ts";

const MODEL = "openai/gpt-6-sol";

Deno.test("a price list replaces built-in prices, and each change has an audit entry with old and new", async () => {
  const server = startPriceServer(ownList({ [MODEL]: { prompt: "0.0000025" } }));
  const gateway = await startPricedGateway(server);
  try {
    await eventually(async () => (await pricingOf(gateway, MODEL))?.prompt === "0.0000025");
    const { body: history } = await admin(gateway, "GET", "prices/history");
    const [entry] = history.data;
    assertEquals([entry.path, entry.actor, entry.state], [`prices/${MODEL}`, "price source", "done"]);
    assertEquals([entry.before.prompt, entry.after.prompt], ["0.000002", "0.0000025"]);
    const { body: status } = await admin(gateway, "GET", "prices");
    assertEquals([status.models, status.pending, status.is_stale], [1, [], false]);
  } finally {
    await gateway.stop();
    await server.stop();
  }
});

Deno.test("a large change, a price of zero and a model that vanishes wait until a person applies them", async () => {
  const good = {
    [MODEL]: {},
    "openai/gpt-6-luna": {},
    "openai/made-up": { prompt: "0.000003", completion: "0.000004" },
  };
  const server = startPriceServer(ownList(good));
  const gateway = await startPricedGateway(server);
  const pendingNow = async () => {
    const { body } = await admin(gateway, "POST", "prices/refresh");
    return Object.fromEntries(body.pending.map((each: { model: string; reason: string }) => [each.model, each.reason]));
  };
  try {
    assertEquals(await pendingNow(), {});
    server.list = ownList({ [MODEL]: { prompt: "0.000004" }, "openai/gpt-6-luna": { completion: "0" } });
    const waiting = { [MODEL]: "max_change", "openai/gpt-6-luna": "zero", "openai/made-up": "vanished" };
    assertEquals(await pendingNow(), waiting);
    // Reading again, changed or not, leaves them waiting.
    assertEquals(await pendingNow(), waiting);
    assertEquals((await pricingOf(gateway, MODEL))?.prompt, "0.000002");
    const page = await Deno.readTextFile(new URL("../../docs/api/admin.md", import.meta.url));
    const [sample = ""] = /\{\n {2}"source"[^]*?\n\}\n/.exec(page) ?? [];
    const { body: shown } = await admin(gateway, "GET", "prices");
    const shapeOf = (
      { pending: [first], ...fields }: { readonly pending: readonly object[] },
    ) => [Object.keys(fields), Object.keys(first ?? {})];
    assertEquals(shapeOf(JSON.parse(sample)), shapeOf(shown));
    const unknown = await admin(gateway, "POST", "prices/apply", { models: ["openai/none"] });
    assertEquals([unknown.status, unknown.body.error.code], [404, "not_found"]);
    const { body: { applied } } = await admin(gateway, "POST", "prices/apply", { models: [MODEL] });
    assertEquals(applied, [{ model: MODEL, before: { prompt: "0.000002" }, after: { prompt: "0.000004" } }]);
    await eventually(async () => (await pricingOf(gateway, MODEL))?.prompt === "0.000004");
    const { body: { data: [entry] } } = await admin(gateway, "GET", "prices/history");
    assertEquals([entry.actor, entry.path], ["default", `prices/${MODEL}`]);
    assertEquals([entry.before, entry.after], [{ prompt: "0.000002" }, { prompt: "0.000004" }]);
    server.list = ownList({ ...good, [MODEL]: { prompt: "0.000004" } });
    assertEquals(await pendingNow(), {});
  } finally {
    await gateway.stop();
    await server.stop();
  }
});

Deno.test("prices survive a restart without the source, and a list is not sent twice", async () => {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-prices-" });
  const server = startPriceServer(ownList({ [MODEL]: { prompt: "0.0000025" } }));
  const store = `kv:${folder}/store.db`;
  try {
    const first = await startPricedGateway(server, { store });
    await eventually(async () => (await pricingOf(first, MODEL))?.prompt === "0.0000025");
    await admin(first, "POST", "prices/refresh");
    assertEquals(server.requests.at(-1)?.headers.get("if-none-match") !== null, true);
    await first.stop();
    server.list = () => new Response(null, { status: 503 });
    const second = await startPricedGateway(server, { store });
    assertEquals((await pricingOf(second, MODEL))?.prompt, "0.0000025");
    await second.stop();
  } finally {
    await server.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a source can be a file, and what is no list there is refused", async () => {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  await Deno.writeTextFile(file, JSON.stringify(ownList({ [MODEL]: { prompt: "0.0000025" } })));
  const gateway = await startPricedGateway({ url: file });
  const refused = async () =>
    (await admin(gateway, "POST", "prices/refresh")).body.error.message.split(": ").slice(1).join();
  try {
    await eventually(async () => (await pricingOf(gateway, MODEL))?.prompt === "0.0000025");
    await Deno.writeTextFile(file, '[{"id":');
    assertEquals(await refused(), "expected JSON,Unexpected end of JSON input");
    await Deno.truncate(file, 20_000_000);
    assertEquals(await refused(), "expected a file of at most 16777216 bytes, found 20000000");
    await Deno.remove(file);
    assertEquals(await refused(), "cannot read the file,NotFound");
    assertEquals((await pricingOf(gateway, MODEL))?.prompt, "0.0000025");
  } finally {
    await gateway.stop();
  }
});

Deno.test("prices of an entry in models win over the source", async () => {
  const server = startPriceServer(ownList({ [MODEL]: { prompt: "0.0000025" }, "openai/gpt-6-luna": {} }));
  const gateway = await startPricedGateway(server, {
    isBuiltIn: false,
    config: {
      providers: { openai: { kind: "openai", base_url: "http://127.0.0.1:1", api_key: "k" } },
      models: [{ id: MODEL, pricing: { prompt: "0.000009" }, serves: [{ provider: "openai" }] }],
    },
  });
  try {
    const { body } = await admin(gateway, "POST", "prices/refresh");
    assertEquals(body.models, 2);
    assertEquals((await pricingOf(gateway, MODEL))?.prompt, "0.000009");
  } finally {
    await gateway.stop();
    await server.stop();
  }
});

Deno.test("a source that cannot be read for longer than keep is reported once, and the last prices stay", async () => {
  const server = startPriceServer(ownList({ [MODEL]: { prompt: "0.0000025" } }));
  const clock = new ManualClock();
  const gateway = await startPricedGateway(server, { clock, config: { prices: { every: "1h", keep: "2d" } } });
  try {
    await eventually(async () => {
      clock.advance(1_000);
      return (await pricingOf(gateway, MODEL))?.prompt === "0.0000025";
    });
    server.list = () => new Response(null, { status: 503 });
    const stale = () => gateway.logLines.filter((line) => line.includes("prices_stale")).length;
    await eventually(async () => {
      clock.advance(3_600_000);
      await admin(gateway, "GET", "prices");
      return stale() > 0;
    });
    clock.advance(3_600_000);
    // A read that was under way when the clock moved has timed out; the next one meets the source itself.
    await eventually(async () => {
      await admin(gateway, "POST", "prices/refresh");
      const { body } = await admin(gateway, "GET", "prices");
      return body.failure.reason === "expected status 200, got 503";
    });
    const { body } = await admin(gateway, "GET", "prices");
    assertEquals([body.is_stale, stale()], [true, 1]);
    assertEquals((await pricingOf(gateway, MODEL))?.prompt, "0.0000025");
  } finally {
    await gateway.stop();
    await server.stop();
  }
});
