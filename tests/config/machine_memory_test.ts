import { assertEquals } from "@std/assert";
import { defaultMemoryLimit, memoryBytes, type ReportedMemory } from "../../src/config/machine_memory.ts";

const GB = 1_000_000_000;

function reported(change: { constrained?: number | undefined; total?: number; heapLimit?: number }): ReportedMemory {
  return {
    constrained: () => change.constrained,
    total: () => change.total ?? 8 * GB,
    heapLimit: () => change.heapLimit ?? 4 * GB,
  };
}

Deno.test("memoryBytes() gives the machine's memory without a limit of the control group", () => {
  // Version 1 reports about 2^63 without a limit; other systems report 0 or nothing.
  for (const constrained of [undefined, 0, 2 ** 63]) assertEquals(memoryBytes(reported({ constrained })), 8 * GB);
});

Deno.test("memoryBytes() gives the smaller of the control group's limit and the machine's memory", () => {
  assertEquals(memoryBytes(reported({ constrained: GB })), GB);
  assertEquals(memoryBytes(reported({ constrained: 9 * GB })), 8 * GB);
});

Deno.test("memoryBytes() assumes one gibibyte without reported values", () => {
  assertEquals(memoryBytes(reported({ constrained: undefined, total: 0 })), 1_073_741_824);
});

Deno.test("defaultMemoryLimit() is a quarter of the memory, and at most half of the heap", () => {
  assertEquals(defaultMemoryLimit(reported({ constrained: 2 * GB })), GB / 2);
  assertEquals(defaultMemoryLimit(reported({ total: 100 * GB })), 2 * GB);
});

Deno.test("the platform reports memory only with the permissions of the tasks", async () => {
  assertEquals(await limitWith("--allow-sys=systemMemoryInfo"), defaultMemoryLimit());
  assertEquals(await limitWith("--allow-sys=uid"), 268_435_456);
});

/** The default limit in a process of its own with these permissions. */
async function limitWith(...permissions: string[]): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--no-prompt", "--allow-read", ...permissions, "-"],
    cwd: new URL("../../", import.meta.url),
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const code =
    `import { defaultMemoryLimit } from "./src/config/machine_memory.ts"; console.log(defaultMemoryLimit());`;
  await writer.write(new TextEncoder().encode(code));
  await writer.close();
  return Number(new TextDecoder().decode((await child.output()).stdout));
}
