import { assertEquals } from "@std/assert";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import { createCredentialMonitor, type CredentialMonitor } from "../../src/vendors/routing/credential_monitor.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { failureOf } from "./support.ts";

type Answer = "accepted" | "rejected" | "forbidden" | "unreached" | "missing";

const FAILURES = {
  rejected: failureOf("auth", { status: 401 }),
  forbidden: failureOf("forbidden", { status: 403 }),
  unreached: failureOf("unreachable"),
} as const;

/** A monitor of the provider `acme` with a settable probe result; `null` means a vendor without a probe. */
function stageOf(first: Answer | null) {
  const clock = new ManualClock();
  const lines: { level: string; event: string }[] = [];
  const vendor = { says: first ?? "accepted", probes: 0 };
  const probe = () => {
    vendor.probes++;
    if (vendor.says === "accepted") return Promise.resolve();
    return Promise.reject(
      vendor.says === "missing"
        ? failureOf("invalid", { status: 404 })
        : FAILURES[vendor.says as keyof typeof FAILURES],
    );
  };
  const providers = new Map([["acme", first === null ? {} : { probe }]]);
  const log = jsonLog("info", (line) => void lines.push(JSON.parse(line)));
  const monitor = createCredentialMonitor({ providers, clock, log });
  return {
    clock,
    vendor,
    monitor,
    events: () => lines.map(({ level, event }) => `${level} ${event}`),
    isRejected: (account = "b") => monitor.isRejected("acme", account),
    /** Waits for pending probes. */
    settle: () => new Promise<void>((resolve) => setTimeout(resolve, 0)),
  };
}

function reject(monitor: CredentialMonitor, account = "a", times = 1): void {
  for (let time = 0; time < times; time++) monitor.onStart("acme", account).rejected();
}

Deno.test("credential monitor sends nothing before the first 401, and one probe for many", async () => {
  const { monitor, vendor, settle } = stageOf("rejected");
  monitor.onStart("acme", "a").accepted();
  monitor.onStart("acme", "a").neutral();
  assertEquals(vendor.probes, 0);
  reject(monitor, "a", 10);
  reject(monitor, "b", 10);
  assertEquals(vendor.probes, 1);
  await settle();
  reject(monitor, "b", 10);
  assertEquals(vendor.probes, 1);
});

Deno.test("credential monitor marks the provider once its probe is rejected too, and logs that once", async () => {
  const { monitor, clock, isRejected, events, settle } = stageOf("rejected");
  reject(monitor);
  assertEquals(isRejected(), false);
  await settle();
  assertEquals([isRejected("a"), isRejected("b"), monitor.rejectedAt("acme")], [true, true, clock.now()]);
  reject(monitor, "b", 5);
  clock.advance(10_000);
  await settle();
  assertEquals(events(), ["error provider_misconfigured"]);
});

Deno.test("credential monitor trusts an accepted probe, whatever 401s callers cause", async () => {
  const { monitor, vendor, clock, isRejected, events, settle } = stageOf("accepted");
  for (let minute = 0; minute < 10; minute++) {
    reject(monitor, "a", 20);
    await settle();
    reject(monitor, "b", 20);
    await settle();
    clock.advance(29_999);
    reject(monitor, "a");
    await settle();
    assertEquals([isRejected("a"), isRejected("b")], [false, false]);
    assertEquals(vendor.probes, minute + 1, "the verdict holds for 30 s");
    clock.advance(1);
  }
  assertEquals(events(), Array(10).fill("warn provider_credential_doubted"));
});

Deno.test("credential monitor trusts recently accepted requests more than a probe", async () => {
  const { monitor, vendor, isRejected, settle } = stageOf("rejected");
  monitor.onStart("acme", "b").accepted();
  reject(monitor, "a", 5);
  await settle();
  reject(monitor, "a", 5);
  assertEquals([isRejected("a"), isRejected("b"), vendor.probes], [false, false, 1]);
  reject(monitor, "b");
  assertEquals([isRejected("a"), isRejected("b")], [true, true], "two accounts saw it");

  const later = stageOf("rejected");
  later.monitor.onStart("acme", "b").accepted();
  later.clock.advance(600_000);
  reject(later.monitor, "a");
  await later.settle();
  assertEquals([later.isRejected("a"), later.isRejected("b")], [true, true]);
});

Deno.test("credential monitor marks the provider for all accounts when a later probe is rejected", async () => {
  const { monitor, clock, isRejected, settle } = stageOf("rejected");
  monitor.onStart("acme", "a").accepted();
  reject(monitor, "a");
  await settle();
  assertEquals([isRejected("a"), isRejected("b")], [true, false]);
  clock.advance(10_000);
  await settle();
  assertEquals([isRejected("a"), isRejected("b")], [true, true]);
});

Deno.test("credential monitor repeats the probe with increasing delays, and recovers without a restart", async () => {
  const { monitor, vendor, clock, isRejected, events, settle } = stageOf("rejected");
  reject(monitor);
  await settle();
  let probes = 1;
  for (const delayMs of [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
    clock.advance(delayMs - 1);
    await settle();
    assertEquals(vendor.probes, probes);
    clock.advance(1);
    await settle();
    assertEquals([vendor.probes, isRejected()], [++probes, true]);
  }
  vendor.says = "accepted";
  clock.advance(300_000);
  await settle();
  assertEquals([isRejected(), monitor.rejectedAt("acme"), clock.waiting], [false, null, 0]);
  assertEquals(events(), ["error provider_misconfigured", "info provider_credential_accepted"]);
});

Deno.test("credential monitor starts again from the first delay after a recovery", async () => {
  const { monitor, vendor, clock, isRejected, settle } = stageOf("rejected");
  reject(monitor);
  await settle();
  monitor.onStart("acme", "a").accepted();
  assertEquals([isRejected(), clock.waiting], [false, 0]);
  clock.advance(30_000);
  reject(monitor);
  await settle();
  assertEquals([isRejected("a"), vendor.probes], [true, 2]);
  clock.advance(10_000);
  await settle();
  assertEquals(vendor.probes, 3);
});

for (const answer of ["missing", "unreached", null] as const) {
  const name = answer === null ? "no probe" : `a probe that says nothing (${answer})`;

  Deno.test(`credential monitor with ${name} marks the provider for all accounts after two accounts saw a 401`, async () => {
    const { monitor, isRejected, settle } = stageOf(answer);
    reject(monitor, "a");
    reject(monitor, "b");
    await settle();
    assertEquals([isRejected("a"), isRejected("b"), isRejected("c")], [true, true, true]);
  });

  Deno.test(`credential monitor with ${name} marks it only for an account that is all the traffic`, async () => {
    const { monitor, isRejected, settle } = stageOf(answer);
    reject(monitor, "a");
    await settle();
    assertEquals([isRejected("a"), isRejected("b")], [true, false]);
    reject(monitor, "b");
    await settle();
    assertEquals([isRejected("b"), isRejected("c")], [true, true]);
  });

  Deno.test(`credential monitor with ${name} marks nothing at the 401s of one account among others' traffic`, async () => {
    const { monitor, isRejected, events, settle } = stageOf(answer);
    monitor.onStart("acme", "b").accepted();
    reject(monitor, "a", 50);
    await settle();
    reject(monitor, "a", 50);
    assertEquals([isRejected("a"), isRejected("b"), events()], [false, false, []]);
  });

  Deno.test(`credential monitor with ${name} lets one request through after each delay`, async () => {
    const { monitor, clock, isRejected, settle } = stageOf(answer);
    reject(monitor, "a");
    reject(monitor, "b");
    await settle();
    for (const delayMs of [10_000, 20_000]) {
      clock.advance(delayMs - 1);
      await settle();
      assertEquals(isRejected(), true);
      clock.advance(1);
      await settle();
      assertEquals(isRejected(), false);
      const cancelled = monitor.onStart("acme", "a");
      assertEquals(isRejected(), true, "only one");
      cancelled.neutral();
      assertEquals(isRejected(), false, "the next may, as this one said nothing");
      reject(monitor, "a");
      assertEquals(isRejected(), true);
    }
    clock.advance(40_000);
    await settle();
    monitor.onStart("acme", "b").accepted();
    assertEquals([isRejected("a"), isRejected("b")], [false, false]);
  });
}

Deno.test("credential monitor lets no request through while the probe is rejected", async () => {
  const { monitor, clock, isRejected, settle } = stageOf("rejected");
  reject(monitor);
  await settle();
  for (let time = 0; time < 5; time++) {
    clock.advance(300_000);
    await settle();
    assertEquals(isRejected(), true);
  }
});

Deno.test("credential monitor stops its timers and probes on close()", async () => {
  const { monitor, vendor, clock, settle } = stageOf("rejected");
  reject(monitor);
  await settle();
  await monitor.close();
  assertEquals(clock.waiting, 0);
  reject(monitor);
  clock.advance(600_000);
  await settle();
  assertEquals(vendor.probes, 1);

  let isAborted = false;
  const probe = (signal: AbortSignal) =>
    new Promise<void>((_, fail) => {
      signal.addEventListener("abort", () => {
        isAborted = true;
        fail(failureOf("cancelled"));
      });
    });
  const log = jsonLog("error", () => {});
  const waiting = createCredentialMonitor({ providers: new Map([["acme", { probe }]]), clock, log });
  reject(waiting);
  await waiting.close();
  assertEquals([isAborted, waiting.rejectedAt("acme")], [true, null]);
});

Deno.test("credential monitor ignores providers that are not configured", async () => {
  const { monitor } = stageOf("rejected");
  monitor.onStart("other", "a").rejected();
  assertEquals([monitor.isRejected("other", "a"), monitor.rejectedAt("other")], [false, null]);
  await monitor.close();
});

function forbid(monitor: CredentialMonitor, account = "a", times = 1): void {
  for (let time = 0; time < times; time++) monitor.onStart("acme", account).forbidden();
}

Deno.test("credential monitor marks the provider after one 403 if its probe is rejected", async () => {
  const { monitor, isRejected, events, settle, vendor } = stageOf("rejected");
  forbid(monitor);
  assertEquals([isRejected("a"), vendor.probes], [false, 1]);
  await settle();
  assertEquals([isRejected("a"), isRejected("b")], [true, true]);
  assertEquals(events(), ["error provider_misconfigured"]);
});

Deno.test("credential monitor marks nothing after 403s if its probe is accepted, unreached, or does not exist", async () => {
  for (const answer of ["accepted", "unreached", "missing", null] as const) {
    const { monitor, isRejected, events, settle } = stageOf(answer);
    for (const account of ["a", "b", "a", "b"]) {
      forbid(monitor, account, 3);
      await settle();
    }
    assertEquals([isRejected("a"), isRejected("b"), events()], [false, false, []], String(answer));
  }
});

Deno.test("credential monitor needs three 403s and no accepted request if its probe is a 403 too", async () => {
  const { monitor, isRejected, settle, clock } = stageOf("forbidden");
  monitor.onStart("acme", "a").accepted();
  forbid(monitor, "a", 5);
  await settle();
  forbid(monitor, "a", 5);
  assertEquals(isRejected("a"), false, "the vendor accepted a request within the minute");
  clock.advance(60_000);
  forbid(monitor);
  await settle();
  forbid(monitor);
  assertEquals(isRejected("a"), false);
  forbid(monitor);
  assertEquals([isRejected("a"), isRejected("b")], [true, false], "one account saw it");
  forbid(monitor, "b");
  assertEquals([isRejected("a"), isRejected("b")], [true, true]);
});

Deno.test("credential monitor lets a request through every ten seconds while its probe is a 403", async () => {
  const { monitor, isRejected, settle, clock, vendor } = stageOf("forbidden");
  forbid(monitor, "a", 3);
  await settle();
  forbid(monitor, "a");
  for (let time = 0; time < 6; time++) {
    assertEquals(isRejected("a"), true);
    clock.advance(9_999);
    await settle();
    assertEquals(isRejected("a"), true);
    clock.advance(1);
    await settle();
    assertEquals(isRejected("a"), false);
    forbid(monitor, "a");
  }
  assertEquals(vendor.probes, 7);
  clock.advance(10_000);
  await settle();
  monitor.onStart("acme", "a").accepted();
  assertEquals(isRejected("a"), false);
});
