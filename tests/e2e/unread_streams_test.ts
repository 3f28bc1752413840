import { assert } from "@std/assert";
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { eventually } from "../support/account_money.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { CHAT, MESSAGES } from "./caller_protocols.ts";
import { startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";

const MEGABYTE = 1_048_576;
const CALLERS = 3;
const delta = { index: 0, delta: { content: "x".repeat(1_000) }, finish_reason: null };
const EVENTS = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [delta] })}\n\n`.repeat(60);

for (const isolates of [1, 2]) {
  for (const face of [CHAT, MESSAGES]) {
    Deno.test(`callers of ${face.name} that never read count with some megabytes each until they leave, with ${isolates} threads`, async () => {
      // A vendor that sends as fast as it is read, to the end of the connection.
      const vendor = startScriptedUpstream(async (side) => {
        if (await side.request() === null) return;
        for (let open = await side.say(STREAM_HEAD); open; open = await side.say(EVENTS));
      });
      const gateway = await startTestGateway({
        isolates,
        balance: "1000000.00",
        config: {
          providers: { fast: { kind: "openai", base_url: vendor.baseUrl, api_key: "vendor-key-1", speaks: "chat" } },
          models: [textModel("sandbox/fast-1", ["fast"])],
          limits: { memory: "512MB" },
        },
      });
      const { memory } = gateway.app;
      const sockets = await Promise.all(Array.from({ length: CALLERS }, () => unread()));
      await eventually(() => memory.inUse >= CALLERS * MEGABYTE);
      // What was translated counts three times, as far as the sockets have taken it.
      const most = face === CHAT ? 2 : 32;
      assert(memory.inUse < CALLERS * most * MEGABYTE, `${memory.inUse} bytes are counted`);
      for (const socket of sockets) socket.destroy();
      await eventually(() => memory.inUse < MEGABYTE);
      await gateway.stop();
      await vendor.stop();

      /** Sends a request and reads nothing. */
      async function unread(): Promise<Socket> {
        const socket = connect(Number(new URL(gateway.address).port), "127.0.0.1");
        socket.on("error", () => {});
        await once(socket, "connect");
        socket.pause();
        const body = JSON.stringify(face.body("sandbox/fast-1", "Hello", true));
        const fields = { host: "localhost", ...face.headers(gateway.key), "content-length": String(body.length) };
        const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join("");
        socket.write(`POST ${face.path("sandbox/fast-1", true)} HTTP/1.1\r\n${lines}\r\n${body}`);
        return socket;
      }
    });
  }
}
