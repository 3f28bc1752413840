import { assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import type { LiveTestGateway } from "../support/live_gateway.ts";
import { RELOAD, withGateway } from "./changed_gateway.ts";

/** The status of a change, and the message of its refusal. */
async function change(gateway: LiveTestGateway, method: string, path: string, body?: unknown) {
  const answer = await gateway.admin(method, `/accounts${path}`, body);
  const error = answer.body.error as { code: string; field?: string; message: string } | undefined;
  const place = /\((.*?)\)/.exec(error?.message ?? "")?.[1];
  return error === undefined ? answer.status : [answer.status, error.code, error.field, place];
}

function owned(path: string, field: string) {
  return [409, "conflict", field, `live.json: accounts${path}.${field}`];
}

/** The id of the key with a name. */
async function idOf(gateway: LiveTestGateway, account: string, prefix: string): Promise<string> {
  const { body } = await gateway.admin("GET", `/accounts/${account}/keys`);
  return (body.data as { id: string; prefix: string }[]).find((key) => key.prefix === prefix)?.id ?? "";
}

Deno.test("fields of accounts that the file declares are 409 with file and path, the others can be changed", async () => {
  await withGateway(async ({ gateway }) => {
    const declared = { id: "acme", balance: "1.00", rpm: 60, budget: null, allow_buckets: ["gs://acme/"] };
    gateway.write({ accounts: [{ id: "demo", keys: [gateway.key] }, declared] });
    assertEquals((await gateway.admin("POST", RELOAD)).status, 200);

    assertEquals(await change(gateway, "PATCH", "/acme", { rpm: 61 }), owned("[1]", "rpm"));
    assertEquals(await change(gateway, "PATCH", "/acme", { name: "Acme", rpm: null }), owned("[1]", "rpm"));
    const budget = { amount: "5", per: "day" };
    assertEquals(await change(gateway, "PATCH", "/acme", { budget }), owned("[1]", "budget"));
    assertEquals(
      await change(gateway, "POST", "/acme/buckets", { allow_buckets: [] }),
      owned("[1]", "allow_buckets"),
    );
    assertEquals((await gateway.admin("GET", "/accounts/acme")).body.name, null);

    assertEquals(await change(gateway, "PATCH", "/acme", { name: "Acme", tpm: 500 }), 200);
    assertEquals(await change(gateway, "PATCH", "/demo", { rpm: 61 }), 200);
    assertEquals(await change(gateway, "POST", "/demo/buckets", { allow_buckets: [] }), 200);
    assertEquals(await change(gateway, "POST", "/acme/credit", { amount: "5" }), 200);
    assertEquals(await change(gateway, "POST", "/acme/webhook-secret"), 200);
    assertEquals(await change(gateway, "POST", "/acme/suspend"), 200);
  });
});

Deno.test("a reload keeps what the API set of undeclared fields, and what it does not declare any more can be changed", async () => {
  await withGateway(async ({ gateway }) => {
    const account = { id: "acme", rpm: 60 };
    gateway.write({ accounts: [account] });
    await gateway.admin("POST", RELOAD);
    assertEquals(await change(gateway, "PATCH", "/acme", { tpm: 500, concurrency: 3 }), 200);
    gateway.write({ accounts: [{ ...account, rpm: 70 }] });
    await gateway.admin("POST", RELOAD);
    const { rpm, tpm, concurrency } = (await gateway.admin("GET", "/accounts/acme")).body;
    assertEquals([rpm, tpm, concurrency], [70, 500, 3]);

    gateway.write({ accounts: [{ id: "acme" }] });
    await gateway.admin("POST", RELOAD);
    assertEquals((await gateway.admin("GET", "/accounts/acme")).body.rpm, 70);
    assertEquals(await change(gateway, "PATCH", "/acme", { rpm: 80 }), 200);
  });
});

Deno.test("a key that the file declares is revoked and changed only there, other keys by the API", async () => {
  await withGateway(async ({ gateway }) => {
    const [plain, named] = [newApiKey(), newApiKey()];
    gateway.write({ accounts: [{ id: "acme", keys: [plain, { key: named, name: "ci", rpm: 60 }] }] });
    await gateway.admin("POST", RELOAD);
    const [one, two] = [
      await idOf(gateway, "acme", plain.slice(0, 12)),
      await idOf(gateway, "acme", named.slice(0, 12)),
    ];
    assertEquals(await change(gateway, "PATCH", `/acme/keys/${two}`, { rpm: 61 }), owned("[0].keys[1]", "rpm"));
    assertEquals(await change(gateway, "PATCH", `/acme/keys/${two}`, { tpm: 500 }), 200);
    assertEquals(await change(gateway, "PATCH", `/acme/keys/${one}`, { name: "first", rpm: 5 }), 200);
    const refused = [409, "conflict", undefined, "live.json: accounts[0].keys[0]"];
    assertEquals(await change(gateway, "DELETE", `/acme/keys/${one}`), refused);

    const { body } = await gateway.admin("POST", "/accounts/acme/keys", { name: "by API" });
    assertEquals(await change(gateway, "PATCH", `/acme/keys/${body.id}`, { name: "other" }), 200);
    assertEquals(await change(gateway, "DELETE", `/acme/keys/${body.id}`), 200);
    assertEquals(await change(gateway, "DELETE", "/acme/keys/key_unknown"), [404, "not_found", undefined, undefined]);

    gateway.write({ accounts: [{ id: "acme", keys: [{ key: named, name: "ci" }] }] });
    assertEquals((await gateway.admin("POST", RELOAD)).body.revoked_keys, [one]);
    assertEquals(await change(gateway, "DELETE", `/acme/keys/${one}`), 200);
    assertEquals(await change(gateway, "PATCH", `/acme/keys/${two}`, { rpm: 61 }), 200);
  });
});

Deno.test("versions of the settings have the name of the admin key that made them", async () => {
  await withGateway(async ({ gateway }) => {
    const { body } = await gateway.admin("POST", "/admin-keys", { name: "pricing pipeline", role: "owner" });
    await gateway.admin("PUT", "/config/limits/text_body", { value: 5_000 });
    const response = await fetch(`${gateway.address}/admin/v1/config/limits/text_body`, {
      method: "PUT",
      headers: { authorization: `Bearer ${body.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ value: 6_000 }),
    });
    assertEquals([response.status, (await response.json()).version], [200, 2]);
    const versions = (await gateway.admin("GET", "/config/versions")).body.data as { by: string }[];
    assertEquals(versions.map(({ by }) => by), ["pricing pipeline", "default"]);
    assertEquals(gateway.logLines.filter((line) => line.includes("by pricing pipeline")).length, 1);
  });
});
