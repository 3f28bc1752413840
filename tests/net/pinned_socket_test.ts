import { assertEquals, assertRejects } from "@std/assert";
import { createSecureContext } from "node:tls";
import { EgressError } from "../../src/net/egress_error.ts";
import { createPinnedDialer, type Opening, type PinnedDialer } from "../../src/net/pinned_socket.ts";
import { tlsFailureCode } from "../../src/net/trust.ts";
import { until } from "../support/manual_clock.ts";
import { TEST_ROOT } from "../support/test_certificates.ts";
import { ROOT } from "../webhooks/certificates.ts";
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
