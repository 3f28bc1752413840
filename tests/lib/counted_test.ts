import { assertEquals } from "@std/assert";
import { counted } from "../../src/platform/lib/text/counted.ts";

Deno.test("counted() writes one thing in the singular, and none or several in the plural", () => {
  assertEquals([0, 1, 2].map((count) => counted(count, "model")), ["0 models", "1 model", "2 models"]);
  assertEquals(counted(2, "alias", "aliases"), "2 aliases");
});
