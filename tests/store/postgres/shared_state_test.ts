import { assertEquals, assertGreaterOrEqual, assertRejects } from "@std/assert";
import { createAccount } from "../../../src/money/billing/accounts/account.ts";
import { issueKey } from "../../../src/money/billing/keys/issued_key.ts";
import { createKeyRing } from "../../../src/money/billing/keys/key_ring.ts";
import { GatewayError } from "../../../src/platform/lib/basics/gateway_error.ts";
import { RequestRate } from "../../../src/money/limits/request_rate.ts";
import { itemAt } from "../../support/items.ts";
import { isPostgresWanted, type PostgresServer, startPostgres } from "../../support/postgres_server.ts";
import { overNodes } from "./nodes.ts";

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("shared state: the server is stopped", () => server.stop());
}

function registerTests(server: PostgresServer): void {
  overNodes(
    server,
    2,
    "a key that one revokes is refused there at once, and by the others within five seconds",
    async (nodes) => {
      const [a, b] = [itemAt(nodes, 0), itemAt(nodes, 1)];
      await createAccount(a.store, { id: "acme" });
      const { key, secret } = await issueKey(a.store, "acme");
      const [revoking, other] = [createKeyRing(a), createKeyRing(b)];
      for (const ring of [revoking, other]) assertEquals((await ring.resolve(secret)).keyId, key.id);
      b.clock.advance(4_999);
      await revoking.revoke("acme", key.id);
      await assertRejects(async () => await revoking.resolve(secret), GatewayError);
      b.clock.advance(1);
      await assertRejects(async () => await other.resolve(secret), GatewayError);
    },
  );

  overNodes(server, 2, "a credential polls as often as its limit allows over all of them together", async (nodes) => {
    const terms = { requests: 60, perMs: 60_000, burst: 10 };
    const limits = nodes.map(({ store }) => new RequestRate(store, "video-polling", terms));
    const poll = (n: number) => itemAt(limits, n % 2).take("key");
    const decisions = await Promise.all(Array.from({ length: 40 }, (_, n) => poll(n)));
    assertEquals(decisions.filter(({ ok }) => ok).length, 10);
    for (const { ok, retryAfterSeconds } of decisions) if (!ok) assertGreaterOrEqual(retryAfterSeconds, 1);
    for (const { clock } of nodes) clock.advance(1_000);
    const later = await Promise.all([poll(0), poll(1)]);
    assertEquals(later.filter(({ ok }) => ok).length, 1);
  });

  overNodes(server, 3, "what a start prepares is done by one after the other", async (nodes) => {
    let running = 0;
    let most = 0;
    let done = 0;
    const starts = nodes.map(({ store }) =>
      store.exclusively(async () => {
        most = Math.max(most, ++running);
        await store.commit(null, { set: [{ key: ["prepared"], value: 1 }] });
        running--;
        done++;
      })
    );
    while (done < nodes.length) {
      for (const { clock } of nodes) clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(starts);
    assertEquals(most, 1);
  });

  overNodes(server, 3, "what one announces, such as an open circuit, reaches the others", async (nodes) => {
    const [sender, ...others] = nodes;
    const reached = new Set<number>();
    others.forEach(({ store }, index) => store.onWake((kind) => kind === "circuit_open acme" && reached.add(index)));
    // The first messages can be sent before the others listen.
    while (reached.size < others.length) {
      sender?.store.announce("circuit_open acme");
      for (const { clock } of nodes) clock.advance(50);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
}
