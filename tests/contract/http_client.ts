import { assertEquals } from "@std/assert";
import { HOSTILE_CASES } from "./hostile_cases.ts";
import { type ClientUnderTest, runCase } from "./hostile_vendor.ts";

/**
 * The contract of an HTTP client toward hostile vendors: every case has its outcome, and the next exchanges of the same
 * client receive their own responses.
 *
 * @param open Creates a client for each case.
 */
export function httpClientContract(name: string, open: () => ClientUnderTest): void {
  for (const one of HOSTILE_CASES) {
    Deno.test(`${name}, ${one.name}`, async () => {
      assertEquals(await runCase(one, open()), null);
    });
  }
}
