import { assertEquals } from "@std/assert";
import { memoryBytes } from "../../src/config/machine_memory.ts";

const MEMINFO = "MemTotal:       8000000 kB\nMemFree:        1 kB\n";

/** Reads from these files alone. */
function machine(files: Readonly<Record<string, string>>): (path: string) => string {
  return (path) => {
    if (path in files) return files[path];
    throw new Deno.errors.NotFound(path);
  };
}

Deno.test("memoryBytes() gives the machine's memory where no control group limits it", () => {
  const files = {
    "/proc/meminfo": MEMINFO,
    "/proc/self/cgroup": "0::/system.slice/switchyard.service\n",
    "/sys/fs/cgroup/system.slice/switchyard.service/memory.max": "max\n",
  };
  assertEquals(memoryBytes(machine(files)), 8_000_000 * 1024);
});

Deno.test("memoryBytes() gives the least limit of a control group of version 2 and of those around it", () => {
  const files = {
    "/proc/meminfo": MEMINFO,
    "/proc/self/cgroup": "0::/system.slice/switchyard.service\n",
    "/sys/fs/cgroup/system.slice/memory.max": "512000000\n",
    "/sys/fs/cgroup/system.slice/switchyard.service/memory.max": "1024000000\n",
  };
  assertEquals(memoryBytes(machine(files)), 512_000_000);
});

Deno.test("memoryBytes() finds the limit of a container, whose root is its own group", () => {
  const files = { "/proc/meminfo": MEMINFO, "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "268435456\n" };
  assertEquals(memoryBytes(machine(files)), 268_435_456);
});

Deno.test("memoryBytes() reads control groups of version 1, whose lack of a limit is a huge number", () => {
  const cgroup = "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n";
  const limit = "/sys/fs/cgroup/memory/memory.limit_in_bytes";
  const files = { "/proc/meminfo": MEMINFO, "/proc/self/cgroup": cgroup };
  assertEquals(memoryBytes(machine({ ...files, [limit]: "300000000\n" })), 300_000_000);
  assertEquals(memoryBytes(machine({ ...files, [limit]: "9223372036854771712\n" })), 8_000_000 * 1024);
});
