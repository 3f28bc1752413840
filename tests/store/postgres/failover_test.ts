import { assertEquals, assertGreater, assertMatch } from "@std/assert";
import { startTestGateway, type TestGateway, textModel } from "../../support/gateway.ts";
import { callerOf } from "../../support/gateway_call.ts";
import { itemAt } from "../../support/items.ts";
import { isPostgresWanted } from "../../support/postgres_server.ts";
import { startReplicatedPostgres } from "../../support/replicated_postgres.ts";
import { chargedRequests, untilCharged } from "./charged_replies.ts";
import { openStream, startHeldVendor } from "./held_streams.ts";
import { untilSo } from "../../support/patience.ts";

/** Calls a gateway, and keeps what it acknowledged. */
class Caller {
  /** Complete replies. */
  replies = 0;
  /** Secrets of keys that were created: each is a commit of its own. */
  readonly secrets: string[] = [];
  #isOver = false;
  readonly #call;
  readonly #running: Promise<void>;

  constructor(readonly gateway: TestGateway) {
    this.#call = callerOf(gateway.address, { authorization: `Bearer ${gateway.key}` });
    this.#running = this.#run();
  }

  async chat(): Promise<number> {
    const { status, text } = await this.#call("POST", "/v1/chat/completions", {
      model: "acme/m",
      messages: [{ role: "user", content: "hi" }],
    });
    if (status !== 200 && status !== 503) throw new Error(`A chat was answered ${status}: ${text}`);
    if (status === 200) this.replies++;
    return status;
  }

  readiness = async (): Promise<number> => (await this.#call("GET", "/readyz")).status;

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const headers = { authorization: `Bearer ${this.gateway.adminKey}` };
    for (let n = 0; !this.#isOver; n++) {
      await this.chat();
      const created = await this.#call("POST", "/admin/v1/accounts/demo/keys", { name: `key ${n}` }, headers);
      if (created.status === 201) this.secrets.push(created.json.secret);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

if (isPostgresWanted) {
  Deno.test("failover: when a standby replaces the primary, streams end and are charged once, paid calls are 503 until then, and nothing acknowledged is lost", async () => {
    const database = await startReplicatedPostgres();
    const folder = await Deno.makeTempDir();
    const vendor = startHeldVendor();
    const acme = { kind: "openai", base_url: vendor.upstream.baseUrl, api_key: "key-of-the-provider", speaks: "chat" };
    const start = (name: string) =>
      startTestGateway({
        store: database.url("postgres"),
        config: { files: `${folder}/${name}`, providers: { acme }, models: [textModel("acme/m", ["acme"])] },
      });
    const gateways = [await start("a"), await start("b")];
    const streams = await Promise.all(gateways.map(({ address, key }) => openStream(address, key)));
    const callers = gateways.map((gateway) => new Caller(gateway));
    const secrets = () => callers.flatMap((caller) => caller.secrets);
    await untilSo(() => secrets().length >= 20);

    await database.losePrimary();
    database.leadToStandby();
    for (const caller of callers) {
      await untilSo(async () => await caller.chat() === 503);
      await untilSo(async () => await caller.readiness() === 503);
    }
    vendor.release();
    for (const { text } of streams) assertMatch(await text, /"content":"lo"[^]*data: \[DONE\]/);
    const acknowledged = secrets().length;

    await database.promote();
    for (const caller of callers) {
      await untilSo(async () => await caller.readiness() === 200);
      await untilSo(async () => await caller.chat() === 200);
    }
    await untilSo(() => secrets().length > acknowledged);
    for (const caller of callers) await caller.stop();
    const replies = callers.reduce((sum, caller) => sum + caller.replies, streams.length);
    await untilCharged(itemAt(gateways, 0), replies);
    const charged = await chargedRequests(itemAt(gateways, 1));
    assertEquals([charged.length, new Set(charged).size], [replies, replies]);
    for (const { requestId } of streams) assertEquals(charged.filter((id) => id === requestId).length, 1);
    for (const { address } of gateways) {
      for (const secret of secrets()) {
        const { status } = await callerOf(address, { authorization: `Bearer ${secret}` })("GET", "/v1/key");
        assertEquals(status, 200);
      }
    }
    assertGreater(itemAt(callers, 0).secrets.length, 0);

    for (const gateway of gateways) await gateway.stop();
    await vendor.upstream.stop();
    await database.stop();
    await Deno.remove(folder, { recursive: true });
  });

  Deno.test("failover: a former primary that still runs is refused until the address leads to the new one again", async () => {
    const database = await startReplicatedPostgres();
    const folder = await Deno.makeTempDir();
    const gateway = await startTestGateway({ store: database.url("postgres"), config: { files: `${folder}/files` } });
    const readiness = async () => {
      const response = await fetch(`${gateway.address}/readyz`);
      return { status: response.status, text: await response.text() };
    };
    await database.losePrimary();
    database.leadToStandby();
    await untilSo(async () => (await readiness()).text.includes("is a standby"));
    await database.promote();
    await untilSo(async () => (await readiness()).status === 200);
    await database.leadToFormerPrimary();
    await untilSo(async () => (await readiness()).text.includes("former primary"));
    assertEquals((await readiness()).status, 503);
    database.leadToStandby();
    await untilSo(async () => (await readiness()).status === 200);
    const events = gateway.logLines.map((line) => JSON.parse(line).event);
    assertEquals(events.filter((event) => event.startsWith("store_primary") || event === "store_not_primary"), [
      "store_not_primary",
      "store_primary",
      "store_not_primary",
      "store_primary",
    ]);
    await gateway.stop();
    await database.stop();
    await Deno.remove(folder, { recursive: true });
  });

  Deno.test("failover: a gateway does not start on a standby", async () => {
    const database = await startReplicatedPostgres();
    await database.losePrimary();
    database.leadToStandby();
    const failed = await startTestGateway({ store: database.url("postgres") }).then(
      () => "started",
      (error) => String(error),
    );
    await database.stop();
    assertMatch(failed, /the server is a standby, which takes no writes/);
  });
}
