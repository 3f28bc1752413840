import { assertEquals } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { CODECS, FORMATS } from "../support/formats.ts";
import { parametersOf } from "./parameters.ts";
import { probesOf } from "./probes.ts";

/** What only probes have: a text before each sample of a list named `parts`, also in a result, and `{}`. */
const SAMPLES = /\.functionResponse\.parts\[0\]\.text"|got nothing$/;

for (const form of FORMATS) {
  Deno.test(`no type that the official client of ${form} has is refused as unknown`, async () => {
    const { caller } = CODECS[form];
    const refused = new Set<string>();
    let checked = 0;
    for (const { with: body } of probesOf(form, await parametersOf(form))) {
      try {
        caller.check(body);
      } catch (error) {
        if (error instanceof GatewayError) continue; // `{}` in the place of a part
        throw error;
      }
      checked++;
      try {
        caller.refuseUnknownTypes(body);
      } catch (error) {
        const { message } = error as Error;
        if (!SAMPLES.test(message)) refused.add(message);
      }
    }
    assertEquals([...refused], []);
    assertEquals(checked > 100, true, `${checked} requests`);
  });
}
