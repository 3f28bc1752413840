import { assertEquals } from "@std/assert";
import { denoProblem } from "../../src/entry/cli/version.ts";

Deno.test("denoProblem() names the needed version for an older Deno, and nothing for others", () => {
  for (const version of ["2.9.0", "2.9.6", "2.10.1", "3.0.0-rc.1"]) assertEquals(denoProblem(version), null);
  for (const version of ["1.46.3", "2.8.9"]) {
    assertEquals(denoProblem(version), `switchyard: needs Deno 2.9 or later, and this is Deno ${version}`);
  }
});
