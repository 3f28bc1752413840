import { assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { textModel } from "../support/gateway.ts";
import { withGateway } from "./changed_gateway.ts";

const PATHS = ["/v1/models", "/v1/videos/models", "/msgcompat/v1/models", "/gencompat/v1beta/models"];

Deno.test("catalogs answer any number of wrong keys at once, and then show a right key no more than a wrong one", async () => {
  const models = ["acme/one", "acme/two"].map((id) => textModel(id, ["first"]));
  await withGateway(async ({ gateway }) => {
    const limited = newApiKey();
    gateway.write({ accounts: [{ id: "acme", keys: [{ key: limited, models: ["acme/one"] }] }] });
    await gateway.admin("POST", "/config/reload");
    const list = async (path: string, key: string) => {
      const response = await fetch(gateway.address + path, { headers: { authorization: `Bearer ${key}` } });
      const body = await response.json();
      return { status: response.status, count: (body.data ?? body.models)?.length };
    };
    assertEquals(await list("/v1/models", limited), { status: 200, count: 1 });
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => list(PATHS[n % 4] ?? "", newApiKey())));
    assertEquals(answers.filter(({ status }) => status !== 200), []);
    assertEquals(await list("/v1/models", limited), { status: 200, count: 2 });
    const refused = await gateway.chat("acme/two", limited);
    assertEquals(refused.status, 403, "a right key is still accepted where one is needed");
  }, { sections: { models } });
});
