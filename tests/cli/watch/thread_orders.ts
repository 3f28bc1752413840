import type { ThreadModule } from "../../../src/platform/lib/process/program_files.ts";

/** What a test makes a kind of thread do: compute for so many milliseconds, or use up its heap. */
export interface ThreadOrder {
  readonly kind: ThreadModule | "main";
  readonly ms: number | "exhaust";
}

/** Where `ordered_program.ts` gives the orders to its threads. */
export const ORDERS = "thread-orders";

/** Lets `ordered_program.ts` hold up or exhaust this thread, which runs the module of that path below `src`. */
export function obeyOrders(path: ThreadModule): void {
  const channel = new BroadcastChannel(ORDERS);
  channel.onmessage = ({ data }: MessageEvent<ThreadOrder>) => {
    if (data.kind === path) obey(data);
  };
}

/** Does what an order says. */
export function obey({ ms }: ThreadOrder): void {
  if (ms === "exhaust") { for (const kept: unknown[] = [];;) kept.push(new Array(10_000).fill(kept.length + 0.5)); }
  const end = performance.now() + ms;
  while (performance.now() < end);
}
