import { assertEquals } from "@std/assert";
import { connect } from "node:net";
import { readMoney } from "../../../src/platform/lib/basics/money.ts";
import { accountMoney, eventually } from "../../support/account_money.ts";
import { itemAt } from "../../support/items.ts";
import { startResetGateway } from "./reset_gateway.ts";
import type { StreamKind } from "./streams.ts";

/** How many sockets each number of threads loses. Set by `deno task test:resets`. */
const RESETS = Number(Deno.env.get("SWITCHYARD_RESETS") ?? Deno.env.get("SWITCHYARD_TEST_RESETS") ?? "0");
const SEED = Number(Deno.env.get("SWITCHYARD_TEST_SEED") ?? "1");
/** The callers at one time. */
const CALLERS = 8;
/** Lines that say that a process or a thread ended, or that a failure was handled by nothing else. */
const FAILURES = new Set(["isolate_failed", "worker_crashed", "process.failed", "request.failed", "stream_failed"]);

const title = "sockets that are reset at random instants of every kind of stream end nothing, and are charged";

for (const [name, isolates] of [["one thread", 1], ["two threads", 2]] as const) {
  Deno.test({
    name: RESETS > 0 ? `${title}, in ${name}` : `${title}, in ${name}; runs in deno task test:resets`,
    ignore: RESETS === 0,
    fn: () => reset(isolates),
  });
}

async function reset(isolates: number): Promise<void> {
  const random = randomOf(SEED);
  const unhandled: unknown[] = [];
  const onUnhandled = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    unhandled.push(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", onUnhandled);
  const gateway = await startResetGateway(isolates, random);
  try {
    const money = accountMoney({ ...gateway, address: `http://127.0.0.1:${gateway.port}` });
    const callersOf = () =>
      gateway.lines().filter(({ event, path }) => event === "request" && !path?.startsWith("/admin/v1/acc"));
    // Threads send the lines of several requests together.
    const before = { count: (await settled(callersOf)).length, balance: await money.balance() };
    for (let n = 0; n < RESETS; n += CALLERS) {
      const kinds = Array.from(
        { length: CALLERS },
        (_, k) => itemAt(gateway.kinds, (n + k) % gateway.kinds.length),
      );
      await Promise.all(kinds.map((kind) => leave(gateway.port, kind, random)));
    }
    assertEquals(unhandled, []);
    // What a socket carried that was reset before it was read is no request.
    const callers = await settled(callersOf);
    assertEquals(await gateway.openStreams(), 0);
    assertEquals(gateway.lines().filter(({ event }) => FAILURES.has(event)), []);
    const charged = callers.slice(before.count).reduce((sum, { cost }) => sum + readMoney(cost ?? "0"), 0n);
    const taken = async () => before.balance - await money.balance();
    await eventually(async () => await taken() === charged).catch(() => {});
    assertEquals(await taken(), charged);
  } finally {
    await gateway.stop();
    globalThis.removeEventListener("unhandledrejection", onUnhandled);
  }
}

/** Sends a request and resets its connection: while it waits for the response, or within it. */
function leave(port: number, kind: StreamKind, random: () => number): Promise<void> {
  const waitsForBytes = random() < 0.8;
  const bytes = Math.floor(random() * 4_000);
  const ms = random() * (random() < 0.5 ? 2 : 22);
  const spinMs = random() * 3;
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let received = 0;
    const reset = () => {
      socket.resetAndDestroy();
      // What happens meanwhile reaches a gateway in this thread in one turn of its event loop.
      for (const until = performance.now() + spinMs; performance.now() < until;);
    };
    socket.on("error", () => resolve());
    socket.on("close", () => resolve());
    socket.on("connect", () => {
      socket.write(kind.write());
      if (!waitsForBytes) setTimeout(reset, ms);
    });
    socket.on("data", (piece: Uint8Array) => {
      const hadEnough = received > bytes;
      received += piece.length;
      if (waitsForBytes && !hadEnough && received > bytes) setTimeout(reset, ms);
    });
    socket.on("end", () => socket.destroy());
    // A response that is shorter, or is over.
    setTimeout(() => socket.destroyed || reset(), 150);
  });
}

/** Waits until nothing is added. */
async function settled<T>(read: () => readonly T[]): Promise<readonly T[]> {
  let last = read();
  let rounds = 0;
  return await eventually(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const now = read();
    rounds = now.length === last.length ? rounds + 1 : 0;
    last = now;
    return rounds >= 5 && now;
  });
}

/** Uniform numbers in [0, 1), the same for each seed: Mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
