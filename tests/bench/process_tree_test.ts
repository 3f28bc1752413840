import { assert, assertEquals } from "@std/assert";
import { endedChildrenMs, processState } from "../../bench/process_state.ts";
import { descendantsOf, treeState } from "../../bench/process_tree.ts";

Deno.test("processes: descendants include those of descendants, and no others", () => {
  const parentOf = new Map([[2, 1], [3, 2], [4, 3], [5, 2], [6, 1]]);
  assertEquals(descendantsOf(2, parentOf).toSorted(), [3, 4, 5]);
  assertEquals(descendantsOf(4, parentOf), []);
});

Deno.test({
  name: "treeState() has the memory of a process and its children",
  ignore: Deno.build.os !== "linux",
  async fn() {
    // The shell stays, and its child repeats what it reads.
    const child = new Deno.Command("sh", { args: ["-c", "cat; true"], stdin: "piped", stdout: "piped" }).spawn();
    const [stdin, stdout] = [child.stdin.getWriter(), child.stdout.getReader()];
    await stdin.write(new TextEncoder().encode("started\n"));
    await stdout.read();
    const [alone, tree] = [await processState(child.pid), await treeState(child.pid)];
    await stdin.close();
    await stdout.cancel();
    await child.status;
    assert(alone !== null && tree !== null && tree.residentBytes > alone.residentBytes);
    assertEquals(await treeState(child.pid), null);
  },
});

Deno.test({
  name: "endedChildrenMs() has the processor time of a child that has ended",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const before = await endedChildrenMs(Deno.pid);
    // Some ticks of 10 ms, in which the kernel counts.
    const loop = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    await new Deno.Command("sh", { args: ["-c", loop] }).output();
    const after = await endedChildrenMs(Deno.pid);
    assert(before !== null && after !== null && after > before, `${before}, then ${after}`);
  },
});
