import { assertEquals } from "@std/assert";
import { hasFreeDescriptors } from "../../src/platform/lib/process/descriptors.ts";
import { descriptorShortage } from "../../src/platform/net/own_failure.ts";

const PROGRAM = new URL("./without_descriptors.ts", import.meta.url).pathname;

Deno.test("a connection that fails for want of a descriptor is no failure of its peer", () => {
  const shortage = Object.assign(new Error("Too many open files (os error 24)"), { code: "EMFILE" });
  assertEquals(descriptorShortage(new Error("Cannot connect", { cause: shortage }))?.status, 503);
  assertEquals(descriptorShortage(Object.assign(new Error("of the system"), { code: "ENFILE" }))?.code, "overloaded");
  assertEquals(hasFreeDescriptors(1), true);
  assertEquals(descriptorShortage(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })), null);
  assertEquals(descriptorShortage("not an error"), null);
});

for (const isolates of [1, 2]) {
  Deno.test({
    name: `without descriptors, calls are refused with 503 and no circuit opens: ${isolates} threads`,
    ignore: Deno.build.os !== "linux",
    async fn() {
      const { stdout, stderr } = await new Deno.Command("bash", {
        args: [
          "-c",
          `ulimit -n 400; exec "$0" run --quiet --no-check --config=deno.json --lock=tests/deno.lock -A "$1" ${isolates}`,
          Deno.execPath(),
          PROGRAM,
        ],
        cwd: new URL("../../", import.meta.url).pathname,
        stdout: "piped",
        stderr: "piped",
      }).output();
      const text = new TextDecoder().decode(stdout);
      const failure = new TextDecoder().decode(stderr);
      assertEquals(text.trim().split("\n"), [
        "with descriptors: 200",
        "without: 503 overloaded",
        "by name: 503 overloaded",
        "state: ready ready",
        "with descriptors again: 200",
      ], failure);
    },
  });
}
