import { assertEquals } from "@std/assert";
import { gatewayFetch } from "../../src/entry/cli/find/gateway_fetch.ts";

Deno.test("gatewayFetch() gives the status, headers and body of a gateway on this machine", async () => {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("day,cost\r\n", { status: 201, headers: { "content-type": "text/csv; charset=utf-8" } }),
  );
  try {
    const response = await gatewayFetch(`http://127.0.0.1:${server.addr.port}/`);
    assertEquals(
      [response.status, response.headers.get("content-type"), await response.text()],
      [201, "text/csv; charset=utf-8", "day,cost\r\n"],
    );
  } finally {
    await server.shutdown();
  }
});
