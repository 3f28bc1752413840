import { assert, assertEquals } from "@std/assert";
import { Webhook } from "standardwebhooks";
import { itemAt } from "../support/items.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions, textModel } from "../support/gateway.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { ROOT } from "../webhooks/certificates.ts";
import {
  type Behaviour,
  neverRespond,
  type Received,
  type Receiver,
  respondWith,
  startReceiver,
} from "../webhooks/receiver.ts";
import { untilSo } from "../support/patience.ts";

const SECRET = "whsec_b3BlcmF0b3Igb3BlcmF0b3Igb3BlcmF0b3I=";
const ACCOUNT_SECRET = "whsec_YWNjb3VudCBhY2NvdW50IGFjY291bnQhISE=";
const DAY_MS = 86_400_000;
/** A little longer than the time between two passes. */
const PASS_MS = 61_000;
const caFile = await Deno.makeTempFile();
await Deno.writeTextFile(caFile, ROOT);

interface Event {
  readonly event: string;
  readonly id: string;
  // deno-lint-ignore no-explicit-any
  readonly data: any;
}

interface Stage {
  readonly gateway: TestGateway;
  readonly clock: ManualClock;
  readonly operator: Receiver;
  readonly customer: Receiver;
  // deno-lint-ignore no-explicit-any
  admin(method: string, path: string, body?: unknown): Promise<any>;
  chat(): Promise<Response>;
  /** Runs one pass over everything. */
  pass(): Promise<void>;
  stop(): Promise<void>;
}

interface StageOptions extends Pick<TestGatewayOptions, "isolates" | "balance" | "store"> {
  readonly operatorAnswers?: Behaviour;
  readonly customerAnswers?: Behaviour;
  readonly notifications?: Record<string, unknown>;
  readonly models?: readonly unknown[];
  readonly providers?: Record<string, unknown>;
  readonly clock?: ManualClock;
}

/** A gateway whose operator and whose account `acme` have receivers. The key is that of `demo`, which has none. */
async function startStage(options: StageOptions = {}): Promise<Stage> {
  const { operatorAnswers = respondWith(204), customerAnswers = respondWith(204) } = options;
  const { clock = new ManualClock(Date.now()), isolates = 1, balance = "10.00", store = "kv::memory:" } = options;
  const operator = startReceiver(operatorAnswers);
  const customer = startReceiver(customerAnswers);
  const gateway = await startTestGateway({
    clock,
    isolates,
    balance,
    store,
    config: {
      egress: { allow: ["127.0.0.1/32"], ca_file: caFile },
      notifications: { url: `https://127.0.0.1:${operator.port}/ops`, secret: SECRET, ...options.notifications },
      models: options.models ??
        [{ ...textModel("sandbox/chat-1", ["sandbox-openai"]), pricing: { completion: "0.01" } }],
      ...options.providers && { providers: options.providers },
    },
  });
  const admin: Stage["admin"] = async (method, path, body) => {
    const response = await fetch(`${gateway.address}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
    const json = await response.json();
    assert(response.ok, JSON.stringify(json));
    return json;
  };
  const versionOf = async () => (await gateway.app.store.get([["notification", "summary"]]))[0]?.version;
  return {
    gateway,
    clock,
    operator,
    customer,
    admin,
    chat: () =>
      fetch(`${gateway.address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "Hi" }], max_tokens: 50 }),
      }),
    async pass() {
      const before = await versionOf();
      clock.advance(PASS_MS);
      await untilSo(async () => await versionOf() !== before);
      // The clock must not move during an attempt.
      while ((await admin("GET", "/deliveries?state=pending")).data.some(isFirstAttempt)) {
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
    async stop() {
      await gateway.stop();
      await operator.stop();
      await customer.stop();
    },
  };
}

/** Gives the account `acme` an address for its notifications. */
async function addAcme(stage: Stage, balance: string): Promise<void> {
  await stage.admin("POST", "/accounts", {
    id: "acme",
    balance,
    webhook_secret: ACCOUNT_SECRET,
    notification_url: `https://127.0.0.1:${stage.customer.port}/own`,
  });
}

const isFirstAttempt = ({ attempts }: { readonly attempts: number }) => attempts === 0;
const bodyOf = ({ body }: Received) => new TextDecoder().decode(body);
const eventOf = (received: Received): Event => JSON.parse(bodyOf(received));
const eventsAt = ({ received }: Receiver) => received.map(eventOf);
const namesAt = (receiver: Receiver) => eventsAt(receiver).map(({ event }) => event);
const received = (receiver: Receiver, count: number) => until(() => receiver.received.length >= count);

Deno.test("balance.low is sent once, signed for each receiver, until the balance was above the threshold again", async () => {
  const stage = await startStage({ notifications: { balance_low: ["5.00"] } });
  const { admin, pass, operator, customer } = stage;
  try {
    await addAcme(stage, "10.00");
    await pass();
    assertEquals(operator.received.length, 0);
    await admin("POST", "/accounts/acme/adjust", { amount: "-6.00", reason: "test" });
    await pass();
    await Promise.all([received(operator, 1), received(customer, 1)]);
    await pass();
    await pass();
    assertEquals([operator.received.length, customer.received.length], [1, 1]);
    const [toOperator, toAccount] = [itemAt(operator.received, 0), itemAt(customer.received, 0)];
    new Webhook(SECRET).verify(bodyOf(toOperator), Object.fromEntries(toOperator.headers), { tolerance: 1e9 } as never);
    new Webhook(ACCOUNT_SECRET).verify(bodyOf(toAccount), Object.fromEntries(toAccount.headers));
    const { id, ...event } = eventOf(toAccount);
    assertEquals(event.data, {
      account: "acme",
      threshold: "5.00",
      balance: "4.0000000000",
      overdraft: "0.0000000000",
      spent_per_day: "0.0000000000",
      lasts_until: null,
    });
    assertEquals(eventOf(toOperator).data, event.data);
    assertEquals(toAccount.headers.get("x-service-idempotency-key"), `${id}-balance.low`);
    await admin("POST", "/accounts/acme/credit", { amount: "6.00" });
    await pass();
    await admin("POST", "/accounts/acme/adjust", { amount: "-6.00", reason: "test" });
    await pass();
    await received(customer, 2);
    assertEquals(new Set(eventsAt(customer).map((each) => each.id)).size, 2);
  } finally {
    await stage.stop();
  }
});

Deno.test("an account's address is https, can be removed, and the operator's secret is never shown", async () => {
  const stage = await startStage();
  const { admin, gateway: { address, adminKey } } = stage;
  const patch = async (notification_url: unknown) => {
    const response = await fetch(`${address}/admin/v1/accounts/demo`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ notification_url }),
    });
    const json = await response.json();
    return response.ok ? json.notification_url : [response.status, json.error.field];
  };
  try {
    const refused = [400, "notification_url"];
    assertEquals(await patch("https://acme.example/hook?x=1"), "https://acme.example/hook?x=1");
    for (
      const bad of [
        "http://acme.example",
        "https://a:b@acme.example",
        "acme.example",
        5,
        `https://a.b/${"x".repeat(2_000)}`,
      ]
    ) {
      assertEquals(await patch(bad), refused, String(bad));
    }
    assertEquals((await admin("GET", "/accounts/demo")).notification_url, "https://acme.example/hook?x=1");
    assertEquals(await patch(null), null);
    const { settings } = await admin("GET", "/config");
    assertEquals(settings.notifications.secret.value, "(set)");
    await stage.pass();
    assert(!JSON.stringify(await admin("GET", "/audit")).includes(SECRET));
    assert(!stage.gateway.logLines.join().includes(SECRET));
  } finally {
    await stage.stop();
  }
});

Deno.test("balance.low of days is by the rate of charges; the account and the overview show how long it lasts", async () => {
  for (const isolates of [1, 2]) {
    const stage = await startStage({ isolates, balance: "0.58", notifications: { balance_low: ["3d", "30d"] } });
    try {
      const { usage } = await (await stage.chat()).json();
      const spent = usage.completion_tokens / 100;
      await stage.pass();
      const { forecast, balance } = await stage.admin("GET", "/accounts/demo");
      assertEquals(Number(forecast.spent_per_day), spent);
      const days = (forecast.lasts_until * 1_000 - stage.clock.now()) / DAY_MS;
      assert(Math.abs(days - Number(balance) / spent) < 0.01, `${days} days`);
      const { now: { ending } } = await stage.admin("GET", "/traffic");
      assertEquals(ending.map((each: { account: string }) => each.account), ["demo"]);
      assertEquals(eventsAt(stage.operator).map(({ event, data }) => [event, data.account, data.threshold]), [
        ["balance.low", "demo", "30d"],
      ]);
      await stage.admin("POST", "/accounts/demo/adjust", { amount: "-0.50", reason: "test" });
      await stage.pass();
      await stage.pass();
      assertEquals(eventsAt(stage.operator).map(({ data }) => data.threshold), ["30d", "3d"]);
      const metrics = await (await fetch(`${stage.gateway.address}/metrics`, {
        headers: { authorization: `Bearer ${stage.gateway.adminKey}` },
      })).text();
      assert(metrics.includes('switchyard_accounts_low{threshold="30d"} 1'));
    } finally {
      await stage.stop();
    }
  }
});

Deno.test("budget.reached is sent once for each level and period, of keys and accounts", async () => {
  for (const isolates of [1, 2]) {
    const stage = await startStage({ isolates, notifications: { balance_low: [] } });
    const { admin, chat, pass, operator } = stage;
    try {
      const { usage } = await (await chat()).json();
      const cost = usage.completion_tokens / 100;
      const { data: [key] } = await admin("GET", "/accounts/demo/keys");
      await admin("PATCH", "/accounts/demo", { budget: { amount: (cost * 1.9).toFixed(4), per: "day" } });
      await admin("PATCH", `/accounts/demo/keys/${key.id}`, { budget: { amount: cost.toFixed(4), per: "total" } });
      await pass();
      await received(operator, 4);
      await pass();
      const levels = eventsAt(operator).map(({ data }) => [data.key, data.per, data.level]).toSorted();
      assertEquals(
        levels,
        [
          [null, "day", 50],
          [key.id, "total", 100],
          [key.id, "total", 50],
          [key.id, "total", 80],
        ].toSorted(),
      );
      const { now: { budgets } } = await admin("GET", "/traffic");
      assertEquals(budgets.map(({ spent, ...each }: { spent: string }) => [Number(spent), each]), [
        [cost, {
          account: "demo",
          key: key.id,
          name: null,
          amount: `${cost.toFixed(4)}000000`,
          per: "total",
          resets_at: null,
        }],
      ]);
      stage.clock.stall(DAY_MS);
      await pass();
      await admin("PATCH", "/accounts/demo", { budget: { amount: "100", per: "day" } });
      await pass();
      assertEquals(operator.received.length, 4);
    } finally {
      await stage.stop();
    }
  }
});

Deno.test("key.expiring is sent a week before, once for each time of expiry, and not for a key of a day", async () => {
  const stage = await startStage({ notifications: { balance_low: [] } });
  const { admin, pass, operator, customer, clock } = stage;
  try {
    await addAcme(stage, "0");
    const at = (days: number) => Math.floor((clock.now() + days * DAY_MS) / 1_000);
    const key = await admin("POST", "/accounts/acme/keys", { name: "ci", expires_at: at(10) });
    await admin("POST", "/accounts/acme/keys", { name: "short", expires_at: at(1) });
    await pass();
    assertEquals(customer.received.length, 0);
    clock.stall(4 * DAY_MS);
    await pass();
    await received(customer, 1);
    await pass();
    assertEquals(eventsAt(customer).map(({ event, data }) => [event, data.key, data.name]), [
      ["key.expiring", key.id, "ci"],
    ]);
    const { now: { expiring } } = await admin("GET", "/traffic");
    assertEquals(expiring, [{ account: "acme", key: key.id, name: "ci", expires_at: key.expires_at }]);
    await admin("PATCH", `/accounts/acme/keys/${key.id}`, { expires_at: at(5) });
    await pass();
    await received(customer, 2);
    assertEquals(operator.received.length, 2);
  } finally {
    await stage.stop();
  }
});

for (const isolates of [1, 2]) {
  Deno.test(`an account's receiver gets what is about the account alone, and nothing of the operator, ${isolates} threads`, async () => {
    const model = { ...textModel("sandbox/chat-1", ["down"]), expiration_date: "2026-12-20" };
    const clock = new ManualClock(Date.parse("2026-12-01T10:00:00Z"));
    const stage = await startStage({
      clock,
      isolates,
      balance: "1.00",
      notifications: { balance_low: ["5.00"] },
      models: [model, { ...textModel("sandbox/later-1", ["down"]), expiration_date: "2027-02-20" }],
      providers: { down: { kind: "openai", base_url: "http://127.0.0.1:9", api_key: "k" } },
    });
    try {
      await addAcme(stage, "20.00");
      for (let calls = 0; calls < 6; calls++) await (await stage.chat()).body?.cancel();
      await stage.pass();
      await received(stage.operator, 3);
      await stage.pass();
      assertEquals(namesAt(stage.operator).toSorted(), ["balance.low", "model.deprecated", "provider.failing"]);
      const byName = Object.fromEntries(eventsAt(stage.operator).map(({ event, data }) => [event, data]));
      assertEquals(byName["model.deprecated"], {
        model: "sandbox/chat-1",
        expiration_date: "2026-12-20",
        redirected_to: null,
      });
      const { since, ...failing } = byName["provider.failing"];
      assertEquals([failing, typeof since], [
        { provider: "down", credential: null, reason: "unavailable" },
        "number",
      ]);
      assertEquals(stage.customer.received.length, 0);
      await stage.admin("POST", "/accounts/acme/adjust", { amount: "-16.00", reason: "test" });
      await stage.pass();
      await received(stage.customer, 1);
      assertEquals(eventsAt(stage.customer).map(({ event, data }) => [event, data.account]), [["balance.low", "acme"]]);
      const { data: deliveries } = await stage.admin("GET", "/deliveries");
      const owners = deliveries.map(({ account, event }: Record<string, string>) => `${account} ${event}`).toSorted();
      assertEquals(owners, [
        "acme balance.low",
        "null balance.low",
        "null balance.low",
        "null model.deprecated",
        "null provider.failing",
      ]);
      assertEquals(stage.gateway.logLines.filter((line) => line.includes('"balance_low"')).length, 2);
    } finally {
      await stage.stop();
    }
  });
}

Deno.test("a receiver that never answers is tried again, and delays neither the operator nor the passes", async () => {
  let isHostile = true;
  const stage = await startStage({
    notifications: { balance_low: ["5.00"] },
    customerAnswers: (request, connection) =>
      isHostile ? neverRespond(request, connection) : respondWith(200)(request, connection),
  });
  const { admin, operator, customer, clock } = stage;
  try {
    await addAcme(stage, "1.00");
    clock.advance(PASS_MS);
    await Promise.all([received(operator, 1), received(customer, 1)]);
    isHostile = false;
    const pending = async () => (await admin("GET", "/deliveries?state=pending")).data;
    while ((await pending()).length > 0) {
      clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert(customer.received.length >= 2);
    assertEquals(new Set(customer.received.map(bodyOf)).size, 1);
  } finally {
    await stage.stop();
  }
});

Deno.test("an event that no receiver took before a restart arrives after it, with the same id, once", async () => {
  const folder = await Deno.makeTempDir();
  const store = `kv:${folder}/store.db`;
  const clock = new ManualClock(Date.now());
  const notifications = { balance_low: ["50.00"] };
  const answers = { status: 503 };
  const first = await startStage({
    store,
    clock,
    notifications,
    operatorAnswers: (request, connection) => respondWith(answers.status)(request, connection),
  });
  const url = `https://127.0.0.1:${first.operator.port}/ops`;
  try {
    await first.pass();
    await received(first.operator, 1);
    await first.gateway.stop();
    answers.status = 200;
    const second = await startStage({ store, clock, notifications: { ...notifications, url } });
    try {
      clock.advance(10_000);
      await received(first.operator, 2);
      await second.pass();
      const ids = eventsAt(first.operator).map(({ id }) => id);
      assertEquals([ids.length, new Set(ids).size], [2, 1]);
    } finally {
      await second.stop();
    }
  } finally {
    await first.operator.stop();
    await first.customer.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("an erasure removes the deliveries about an account, also those to the operator", async () => {
  const stage = await startStage({ notifications: { balance_low: ["5.00"] } });
  try {
    await addAcme(stage, "1.00");
    await stage.pass();
    await Promise.all([received(stage.operator, 1), received(stage.customer, 1)]);
    const { removed } = await stage.admin("POST", "/accounts/acme/erase");
    assertEquals(removed.deliveries, 2);
    await stage.pass();
    assertEquals((await stage.admin("GET", "/deliveries")).data, []);
    const { app: { store } } = stage.gateway;
    assertEquals(await store.scan(["notification", "cause"], { limit: 10 }), []);
    assertEquals(await store.scan(["webhook", "notification"], { limit: 10 }), []);
  } finally {
    await stage.stop();
  }
});
