import { assertEquals } from "@std/assert";
import { reloadAtSignal } from "../../src/cli/reload_at_signal.ts";

Deno.test("signals during a reload lead to one more after it, and a later signal to another", async () => {
  const reloads: PromiseWithResolvers<void>[] = [];
  const onSignal = reloadAtSignal(() => {
    const reload = Promise.withResolvers<void>();
    reloads.push(reload);
    return reload.promise;
  });
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
  for (let signal = 0; signal < 1_000; signal++) onSignal();
  assertEquals(reloads.length, 1);
  reloads[0]?.reject(new Error("the file is broken"));
  await settled();
  assertEquals(reloads.length, 2, "the signals of the first reload announced a change");
  reloads[1]?.resolve();
  await settled();
  assertEquals(reloads.length, 2);
  onSignal();
  assertEquals(reloads.length, 3);
  reloads[2]?.resolve();
  await settled();
  assertEquals(reloads.length, 3);
});
