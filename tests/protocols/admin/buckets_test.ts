import { assertEquals, assertMatch } from "@std/assert";
import { openTestAdmin } from "./support.ts";

Deno.test("POST /admin/v1/accounts/:account/buckets replaces the account's buckets", async () => {
  const { call } = await openTestAdmin();
  const created = await call("POST", "", { id: "acme", allow_buckets: ["gs://acme/"] });
  assertEquals([created.status, created.body.allow_buckets], [201, ["gs://acme/"]]);
  const set = await call("POST", "/acme/buckets", { allow_buckets: ["s3://other/folder/"] });
  assertEquals([set.status, set.body.allow_buckets], [200, ["s3://other/folder/"]]);
  assertEquals((await call("GET", "/acme")).body.allow_buckets, ["s3://other/folder/"]);
  assertEquals((await call("POST", "/acme/buckets", { allow_buckets: [] })).body.allow_buckets, []);
  assertEquals((await call("POST", "/nobody/buckets", { allow_buckets: [] })).status, 404);
});

Deno.test("POST /admin/v1/accounts/:account/buckets rejects an invalid bucket, naming the field", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const mistakes = [
    ["gs://acme"],
    ["acme/"],
    ["gs:///"],
    ["gs://acme/../x/"],
    ["gs://acme/%2e/"],
    [7],
    "gs://acme/",
    null,
  ];
  for (const allow_buckets of mistakes) {
    const { status, body } = await call("POST", "/acme/buckets", { allow_buckets });
    assertEquals(status, 400, JSON.stringify(allow_buckets));
    assertMatch(body.error.field, /^allow_buckets/);
  }
});
