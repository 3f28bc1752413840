import { assertEquals, assertRejects } from "@std/assert";
import { createSecureContext } from "node:tls";
import { EgressError } from "../../src/platform/net/egress_error.ts";
import { createPinnedDialer, type Opening, type PinnedDialer } from "../../src/platform/net/pinned_socket.ts";
import { tlsFailureCode } from "../../src/platform/net/trust.ts";
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY, LOOPBACK_ROOT } from "../support/loopback_certificate.ts";
import { until } from "../support/manual_clock.ts";
import { TEST_ROOT } from "../support/test_certificates.ts";
import { CERTIFICATE, KEY, ROOT } from "../webhooks/certificates.ts";
import { respondKeepAlive, startReceiver } from "../webhooks/receiver.ts";

const DEFAULT_ROOTS = createSecureContext({ ca: [ROOT] });

const open = (dialer: PinnedDialer, port: number, hostname = "receiver.example"): Opening =>
  dialer.open({ tls: true, address: "127.0.0.1", port, hostname });

async function outcomeOf({ socket }: Opening): Promise<string> {
  try {
    (await socket).close();
    return "open";
  } catch (error) {
    const { kind, details } = error as EgressError;
    return `${kind} ${tlsFailureCode(details.cause)}`;
  }
}

Deno.test("a certificate under the operator's roots is accepted at the first handshake", async () => {
  const receiver = startReceiver(respondKeepAlive(204));
  const dialer = createPinnedDialer([ROOT]);
  assertEquals([await outcomeOf(open(dialer, receiver.port)), receiver.connections], ["open", 1]);
  assertEquals(await outcomeOf(open(dialer, receiver.port, "127.0.0.1")), "open", "an address is a name, too");
  await receiver.stop();
});

Deno.test("a certificate under the default roots is accepted at the second handshake, later ones at the first", async () => {
  const receiver = startReceiver(respondKeepAlive(204));
  const dialer = createPinnedDialer([TEST_ROOT], DEFAULT_ROOTS);
  assertEquals([await outcomeOf(open(dialer, receiver.port)), receiver.connections], ["open", 2]);
  assertEquals([await outcomeOf(open(dialer, receiver.port)), receiver.connections], ["open", 3]);
  await receiver.stop();
});

Deno.test("a certificate under neither is rejected", async () => {
  const receiver = startReceiver(respondKeepAlive(204));
  assertEquals(await outcomeOf(open(createPinnedDialer([]), receiver.port)), "tls certificate_untrusted");
  assertEquals(await outcomeOf(open(createPinnedDialer([TEST_ROOT]), receiver.port)), "tls certificate_untrusted");
  assertEquals(receiver.received, []);
  await receiver.stop();
});

Deno.test("a certificate for another name is rejected without a second handshake", async () => {
  const receiver = startReceiver(respondKeepAlive(204));
  const dialer = createPinnedDialer([ROOT], DEFAULT_ROOTS);
  assertEquals(await outcomeOf(open(dialer, receiver.port, "other.example")), "tls certificate_name");
  assertEquals(receiver.connections, 1);
  await receiver.stop();
});

Deno.test("a cancelled handshake ends at once, for the peer as well", async () => {
  const silentListener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const opening = open(createPinnedDialer([]), silentListener.addr.port);
  const peer = await silentListener.accept();
  const hello = new Uint8Array(2_000);
  await peer.read(hello);
  const outcome = assertRejects(() => opening.socket, EgressError, "enough");
  opening.cancel(new EgressError("connect", "enough"));
  await outcome;
  const end = await peer.read(hello).catch(() => null); // a reset counts as an end
  assertEquals(end, null);
  peer.close();
  silentListener.close();
});

Deno.test("bytes arrive in order and in the sizes that the reader asks for", async () => {
  const receiver = startReceiver(async (_request, connection) => {
    await connection.write(new TextEncoder().encode("0123456789"));
    return "next" as const;
  });
  const socket = await open(createPinnedDialer([ROOT]), receiver.port).socket;
  const buffer = new Uint8Array(4);
  await socket.write(new TextEncoder().encode("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n"));
  let text = "";
  while (text.length < 10) text += new TextDecoder().decode(buffer.subarray(0, await socket.read(buffer) ?? 0));
  assertEquals(text, "0123456789");
  const waiting = assertRejects(() => socket.read(buffer));
  socket.close();
  await waiting;
  await assertRejects(() => socket.read(buffer));
  await until(() => receiver.open === 0);
  await receiver.stop();
});

Deno.test("a certificate is verified against an address that has no name", async () => {
  const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const server = Deno.serve({ ...address, cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY }, () => new Response());
  const dialer = createPinnedDialer([LOOPBACK_ROOT]);
  assertEquals(await outcomeOf(open(dialer, server.addr.port, "127.0.0.1")), "open");
  assertEquals(await outcomeOf(open(dialer, server.addr.port, "localhost")), "tls certificate_name");
  await server.shutdown();
});

for (const tls of [true, false]) {
  Deno.test(`a peer that sends while nothing is read can send what fits into its socket only; TLS: ${tls}`, async () => {
    const all = 64 * 2 ** 20;
    let sent = 0;
    const address = { hostname: "127.0.0.1", port: 0 };
    const listener = tls ? Deno.listenTls({ ...address, cert: CERTIFICATE, key: KEY }) : Deno.listen(address);
    const sending = (async () => {
      const peer = await listener.accept();
      const chunk = new Uint8Array(65_536);
      // Ends when all is sent or the other side closes.
      while (sent < all) sent += await peer.write(chunk);
      peer.close();
    })().catch(() => {});
    const { port } = listener.addr as Deno.NetAddr;
    const target = { tls, address: "127.0.0.1", port, hostname: "receiver.example" };
    const socket = await createPinnedDialer([ROOT]).open(target).socket;
    await socket.read(new Uint8Array(1));
    let before = -1;
    // Ends when nothing more was sent for a while: a peer that is only slow then makes the test pass, never fail.
    while (sent !== before) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    assertEquals(sent < all / 2, true, `${sent} bytes were read ahead`);
    // What waits is read when it is asked for.
    const buffer = new Uint8Array(65_536);
    // Ends with the bytes that the peer sends.
    for (let read = 1; read < all / 2;) read += await socket.read(buffer) ?? all;
    socket.close();
    await sending;
    listener.close();
  });
}
