import { assertEquals } from "@std/assert";
import { OPERATOR_PARAMETERS, readRequestQuery } from "../../src/observers/request_log/read_query.ts";

Deno.test("readRequestQuery() looks for a zero as rows have it, so that no database refuses the text", () => {
  const { model, text } = readRequestQuery("model=a%00b&q=%00", OPERATOR_PARAMETERS);
  assertEquals([model, text], ["a\ufffdb", "\ufffd"]);
});
