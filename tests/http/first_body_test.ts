import { assertEquals } from "@std/assert";
import { readWithFirstBuffer } from "../../src/platform/http/bodies/first_body.ts";

const LENGTHS = [0, 1, 900, 1_024, 4_096, 4_097, 60_000];

Deno.test("readWithFirstBuffer() reads the first and later bodies of a connection whole", async () => {
  const read: string[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request, info) => {
    const bytes = await readWithFirstBuffer(request, (info.remoteAddr as Deno.NetAddr).port);
    return new Response(bytes);
  });
  for (const first of LENGTHS) {
    using client = Deno.createHttpClient({}); // its own connections
    for (const length of [first, ...LENGTHS]) {
      const body = "x".repeat(length - 1 > 0 ? length - 1 : 0) + (length > 0 ? "y" : "");
      const response = await fetch(`http://127.0.0.1:${server.addr.port}`, { method: "POST", body, client });
      const answer = await response.text();
      if (answer !== body) read.push(`${first}, then ${length}: got ${answer.length} bytes`);
    }
  }
  assertEquals(read, []);
});
