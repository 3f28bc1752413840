import { assertEquals } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import { assertErrorShape, CALLER_PROTOCOLS, sendAs } from "./caller_protocols.ts";

const gateway = await startTestGateway();

for (const face of CALLER_PROTOCOLS) {
  Deno.test(`a dry run of a ${face.name} request is refused, and reaches no vendor`, async () => {
    const before = gateway.sandbox.requests.length;
    for (const value of ["true", "yes"]) {
      for (const stream of [false, true]) {
        const answer = await sendAs(face, gateway, { stream, headers: { "x-service-dry-run": value } });
        assertEquals(answer.status, 400, value);
        assertErrorShape(face, answer);
      }
    }
    assertEquals(gateway.sandbox.requests.length, before);
    assertEquals((await sendAs(face, gateway, { headers: { "x-service-dry-run": "false" } })).status, 200);
  });
}

Deno.test.afterAll(() => gateway.stop());
