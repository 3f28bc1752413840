import { assert, assertEquals, assertMatch } from "@std/assert";
import type { ThreadModule } from "../../../src/platform/lib/process/program_files.ts";
import { itemAt } from "../../support/items.ts";
import { longTest } from "../../support/long_test.ts";
import { linesOf, logged, type OrderedGateway, pause, withOrderedGateway } from "./ordered_gateway.ts";

/** How each kind of thread starts, so that it can spin. */
const KINDS: readonly {
  readonly module: ThreadModule | "main";
  readonly kind: string;
  readonly server?: Record<string, unknown>;
  readonly start?: (gateway: OrderedGateway) => Promise<void>;
}[] = [
  { module: "main", kind: "main" },
  { module: "entry/app/threads/serving_thread", kind: "isolate", server: { isolates: 2 } },
  {
    module: "entry/app/threads/serving_thread",
    kind: "large requests",
    start: async ({ chat }) => void await (await chat("word ".repeat(6_000), false)).text(),
  },
  {
    module: "platform/workers/token_entry",
    kind: "tokens",
    start: async ({ chat }) => {
      const { body } = await chat("[[gap 20]] [[words 500]] go", true);
      const reader = body!.getReader();
      await reader.read();
      await reader.cancel();
    },
  },
  { module: "platform/store/journal/journal_entry", kind: "journal" },
];

for (const { module, kind, server = {}, start } of KINDS) {
  longTest(
    `watch: a thread that spins ends the process after server.stall_limit: ${kind}`,
    () =>
      withOrderedGateway({ ...server, stall_limit: 2 }, async (gateway) => {
        const { process, order } = gateway;
        await start?.(gateway);
        const ended = process.ended.then(({ signal }) => signal);
        // A thread that has just been started may not listen yet.
        let signal: Deno.Signal | null | undefined;
        while (signal === undefined) {
          await order({ kind: module, ms: 600_000 });
          signal = await Promise.race([ended, pause()]);
        }
        assertEquals(signal, "SIGKILL");
        assertEquals(itemAt(linesOf(process, "event_loop_stalled"), 0).ref, kind);
        assertEquals(itemAt(linesOf(process, "process.killed"), 0).ref, kind);
      }),
  );
}

longTest(
  "watch: a thread that stands still for a while is logged with its work, counted, and goes on",
  () =>
    withOrderedGateway({ stall_limit: 0 }, async ({ process, order, address, adminKey }) => {
      await order({ kind: "main", ms: 8_000 });
      await logged(process, "event_loop_stalled");
      const { time: _time, durationMs: _durationMs, ...line } = itemAt(linesOf(process, "event_loop_stalled"), 0);
      assertEquals(line, {
        level: "error",
        event: "event_loop_stalled",
        ref: "main",
        state: "attempt",
        requestId: "req_of_the_test",
        provider: "vendor",
      });
      const metrics = await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${adminKey}` } });
      const text = await metrics.text();
      assertMatch(text, /^switchyard_event_loop_stalls_total\{thread="main"\} 1$/m);
      assertMatch(text, /^switchyard_lost_threads 0$/m);
    }),
);

for (const module of ["main", "entry/app/threads/serving_thread"] as const) {
  longTest(
    `watch: SIGTERM ends the process though a thread spins: ${module}`,
    () =>
      withOrderedGateway({ stall_limit: 0, shutdown_grace: 0, isolates: 2 }, async ({ process, order }) => {
        await order({ kind: module, ms: 600_000 });
        await logged(process, "event_loop_stalled");
        process.kill("SIGTERM");
        const { signal } = await process.ended;
        assert(signal === null || linesOf(process, "process.killed").length === 1);
      }),
  );
}
