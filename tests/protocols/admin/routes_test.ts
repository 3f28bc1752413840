import { assertEquals } from "@std/assert";
import { GatewayError } from "../../../src/platform/lib/basics/gateway_error.ts";
import { renderAdminError } from "../../../src/protocols/admin/shared/answer.ts";
import { adminRoutes } from "../../../src/protocols/admin/routes.ts";
import { ADMIN_KEY, openTestAdmin } from "./support.ts";

Deno.test("every admin endpoint answers 401 without the admin key and has no effect", async () => {
  const { call, store, keys, meter } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const { secret } = (await call("POST", "/acme/keys")).body;
  const options = {
    store,
    keys,
    meter,
    readJson: () => Promise.reject(new Error("body was read")),
    readOptionalJson: () => Promise.reject(new Error("body was read")),
    accounts: [],
    noBodiesReason: null,
    erase: () => Promise.reject(new Error("the account was erased")),
  };
  const credentials: [string | undefined, string][] = [
    [undefined, "unauthorized"],
    ["Bearer ", "unauthorized"],
    [`Basic ${ADMIN_KEY}`, "unauthorized"],
    [`Bearer ${secret}`, "invalid_api_key"],
    [`Bearer ${ADMIN_KEY}x`, "invalid_api_key"],
    [`Bearer ${ADMIN_KEY.slice(0, -1)}`, "invalid_api_key"],
  ];
  for (const route of adminRoutes(options)) {
    const path = route.path.slice("/admin/v1/accounts".length);
    for (const [authorization, code] of credentials) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const { status, body } = await call(route.method, path, undefined, headers);
      assertEquals([status, body.error.code], [401, code]);
    }
  }
});

Deno.test("the admin key is accepted as a bearer token: the scheme in any case, blanks around it", async () => {
  const { call } = await openTestAdmin();
  for (const authorization of [`bearer ${ADMIN_KEY}`, `BEARER   ${ADMIN_KEY}  `]) {
    assertEquals((await call("GET", "", undefined, { authorization })).status, 200);
  }
});

Deno.test("renderAdminError() writes code, message and field, and never the cause", async () => {
  const error = new GatewayError("conflict", "Cannot do it", { field: "x", cause: "secret" });
  const response = renderAdminError(error, "req_1");
  assertEquals(response.status, 409);
  assertEquals(await response.json(), { error: { code: "conflict", message: "Cannot do it", field: "x" } });
});
