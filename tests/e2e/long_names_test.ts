import { assert, assertEquals } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import { CHAT, MESSAGES, RESPONSES } from "./caller_protocols.ts";

/** More than a line of the log may have. */
const MAX_LINE = 4_000;

for (const isolates of [1, 2]) {
  Deno.test(`a model with a name of 15 MB is refused each time, with ${isolates} threads`, async () => {
    const gateway = await startTestGateway({ isolates });
    const model = `sandbox/${"a".repeat(15_000_000)}`;
    for (const face of [CHAT, RESPONSES, MESSAGES]) {
      const response = await fetch(gateway.address + face.path(model), {
        method: "POST",
        headers: face.headers(gateway.key),
        body: JSON.stringify(face.body(model, "hello")),
        signal: AbortSignal.timeout(60_000),
      });
      assertEquals(response.status, face === MESSAGES ? 404 : 400);
      assert((await response.text()).length < MAX_LINE);
    }
    await gateway.stop();
    assertEquals(gateway.logLines.filter((line) => line.includes("unhandled_error")), []);
    const longest = Math.max(...gateway.logLines.map(({ length }) => length));
    assert(longest < MAX_LINE, `a line of the log has ${longest} characters`);
  });
}

Deno.test("a path of 60,000 characters is refused, and its log line has few of them", async () => {
  const gateway = await startTestGateway();
  const response = await fetch(gateway.address + "/a".repeat(30_000));
  assertEquals(response.status, 414);
  await response.text();
  await gateway.stop();
  assert(Math.max(...gateway.logLines.map(({ length }) => length)) < MAX_LINE);
});
