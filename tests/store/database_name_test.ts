import { assertEquals } from "@std/assert";
import { connect } from "../../src/platform/store/postgres/database.ts";

Deno.test("user, password and database of an address are percent-decoded", async () => {
  const url = "postgres://us%40er:p%23a%2Fss@127.0.0.1:1/switch%20yard%23?sslmode=disable";
  const sql = connect({ url, maxConnections: 1, statementTimeoutMs: 0 });
  const { user, pass, database } = sql.options;
  assertEquals([user, pass, database], ["us@er", "p#a/ss", "switch yard#"]);
  await sql.end();
});
