import { assertEquals, assertStringIncludes } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { MISTAKEN_HOST } from "./mistaken_connect.ts";

const ADMIN_KEY = "an-admin-key-of-this-test";
/** More than open a circuit. */
const CALLS = 12;

for (const isolates of [1, 2]) {
  Deno.test(`a mistake of the gateway returns 500 internal_error, is logged, and opens no circuit: ${isolates} threads`, async () => {
    const gateway = await startTestGateway({
      isolates,
      isolateEntry: new URL("./mistaken_thread.ts", import.meta.url),
      config: {
        server: { port: 0, isolates, shutdown_grace: 0, admin_key: ADMIN_KEY },
        providers: { vendor: { kind: "openai", base_url: `http://${MISTAKEN_HOST}:1/v1`, api_key: "k" } },
        models: [textModel("test/one", ["vendor"])],
      },
    });
    try {
      for (let calls = 0; calls < CALLS; calls++) {
        const response = await fetch(`${gateway.address}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "test/one", messages: [{ role: "user", content: "hi" }] }),
        });
        const { error } = await response.json();
        assertEquals([response.status, error.code], [500, "internal_error"], JSON.stringify(error));
        assertEquals(JSON.stringify(error).includes("network.kind"), false);
      }
      const answer = await fetch(`${gateway.address}/readyz?verbose`, {
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      const { providers } = await answer.json();
      assertEquals(providers.map(({ state }: { readonly state: string }) => state), ["ready"]);
      assertStringIncludes(gateway.logLines.join("\n"), "TypeError");
    } finally {
      await gateway.stop();
    }
  });
}
