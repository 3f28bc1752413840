import { assertEquals } from "@std/assert";
import { Connection } from "../../src/platform/net/http1/connection.ts";
import { IdleConnections, type IdleLimits } from "../../src/platform/net/idle_connections.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** Connections without a network, and a list of those that were closed. */
class FakeConnections {
  readonly clock = new ManualClock();
  readonly closed: string[] = [];
  readonly kept: IdleConnections;

  constructor(limits?: IdleLimits) {
    this.kept = new IdleConnections(this.clock, limits);
  }

  /** Opens a connection and adds it to the idle ones; the name identifies it. */
  keep(
    name: string,
    host = "a.example",
    address: string | null = "192.0.2.1",
    { tls = true, serverIdleMs = null as number | null } = {},
  ): Connection {
    const { promise, resolve } = Promise.withResolvers<null>();
    let isOpen = true;
    const socket = {
      read: () => promise,
      close: () => {
        if (isOpen) this.closed.push(name);
        isOpen = false;
        resolve(null);
      },
    } as unknown as Deno.Conn;
    const origin = { tls, hostname: host, port: 443 };
    const connection = new Connection({ origin, host, address, openedAt: this.clock.now() }, socket);
    this.kept.release(connection, serverIdleMs);
    return connection;
  }
}

Deno.test("IdleConnections returns the last used connection, once, and only for its host and address", () => {
  const { kept, keep } = bound(new FakeConnections());
  const first = keep("first");
  const second = keep("second");
  assertEquals(kept.take(true, "b.example", ["192.0.2.1"]), null);
  assertEquals(kept.take(true, "a.example", ["192.0.2.2"]), null);
  assertEquals(kept.take(true, "a.example:8443", ["192.0.2.1"]), null);
  assertEquals(kept.take(true, "a.example", ["192.0.2.2", "192.0.2.1"]), second);
  assertEquals(kept.take(true, "a.example", ["192.0.2.1"]), first);
  assertEquals(kept.take(true, "a.example", ["192.0.2.1"]), null);
});

Deno.test("IdleConnections keeps four per host and 512 in total, and closes the longest idle first", () => {
  const { kept, keep, closed } = bound(new FakeConnections());
  for (let n = 0; n < 6; n++) keep(`a${n}`);
  assertEquals([kept.size, closed], [4, ["a0", "a1"]]);
  for (let n = 0; n < 509; n++) keep(`b${n}`, `b${n}.example`);
  assertEquals([kept.size, closed], [512, ["a0", "a1", "a2"]]);
});

Deno.test("IdleConnections closes each connection at its time with one timer, which stops with the last", () => {
  const { kept, keep, closed, clock } = bound(new FakeConnections());
  keep("first");
  clock.advance(1_000);
  keep("second", "b.example");
  assertEquals(clock.waiting, 1);
  clock.advance(2_999);
  assertEquals(closed, []);
  clock.advance(1);
  assertEquals([closed, clock.waiting], [["first"], 1]);
  clock.advance(1_000);
  assertEquals([closed, clock.waiting, kept.size], [["first", "second"], 0, 0]);
});

Deno.test("IdleConnections closes an older connection on time though newer ones last longer", () => {
  const { kept, keep, closed, clock } = bound(new FakeConnections({ ageMs: 10_000 }));
  const old = keep("old");
  clock.advance(3_000);
  assertEquals(kept.take(true, "a.example", null), old);
  clock.advance(6_000);
  keep("young", "b.example");
  kept.release(old, null);
  clock.advance(999);
  assertEquals(closed, []);
  clock.advance(1);
  assertEquals(closed, ["old"]);
  kept.release(old, null); // too old to be kept
  assertEquals(kept.size, 1);
});

Deno.test("IdleConnections discards connections from before the clock was set back", () => {
  const { kept, keep, closed, clock } = bound(new FakeConnections());
  keep("first");
  clock.set(clock.now() - 3_600_000);
  assertEquals(kept.take(true, "a.example", ["192.0.2.1"]), null);
  clock.advance(3_604_000);
  assertEquals(closed, ["first"]);
});

Deno.test("IdleConnections keeps no connection whose request was not fully sent", () => {
  const { kept, keep, closed } = bound(new FakeConnections());
  const pinned = keep("first");
  kept.take(true, "a.example", null);
  pinned.uploading = true;
  kept.release(pinned, null);
  assertEquals([kept.size, closed], [0, ["first"]]);
});

Deno.test("IdleConnections has no connections and no timer after close()", () => {
  const { kept, keep, closed, clock } = bound(new FakeConnections());
  keep("first");
  keep("second", "b.example");
  kept.close();
  keep("third");
  assertEquals([closed, kept.size, clock.waiting], [["first", "second", "third"], 0, 0]);
});

Deno.test("IdleConnections stays a second below the server's idle limit, and keeps none for a second or less", () => {
  const { kept, keep, closed, clock } = bound(new FakeConnections());
  keep("none", "a.example", null, { serverIdleMs: 1_000 });
  assertEquals([kept.size, closed], [0, ["none"]]);
  keep("short", "a.example", null, { serverIdleMs: 3_000 });
  keep("long", "a.example", null, { serverIdleMs: 60_000 });
  clock.advance(2_000);
  assertEquals(closed, ["none", "short"]);
  clock.advance(2_000);
  assertEquals(closed, ["none", "short", "long"]);
});

Deno.test("IdleConnections returns a connection for any address only to requests that accept any", () => {
  const { kept, keep } = bound(new FakeConnections());
  const any = keep("any", "a.example", null);
  assertEquals(kept.take(true, "a.example", ["192.0.2.1"]), null);
  assertEquals(kept.take(true, "a.example", null), any);
});

Deno.test("IdleConnections distinguishes http from https", () => {
  const { kept, keep } = bound(new FakeConnections());
  const plain = keep("plain", "a.example:443", null, { tls: false });
  assertEquals(kept.take(true, "a.example:443", null), null);
  assertEquals(kept.take(false, "a.example:443", null), plain);
});

function bound(fakes: FakeConnections) {
  const { kept, closed, clock } = fakes;
  return { kept, closed, clock, keep: fakes.keep.bind(fakes) };
}
