import { assertEquals } from "@std/assert";
import { FairPermits } from "../../src/platform/lib/collections/permits.ts";

/** Runs operations that end when they are told to, and lists them in the order in which they began. */
function stage(limit: ConstructorParameters<typeof FairPermits>[0]) {
  const permits = new FairPermits(limit);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (account: string, name: string) =>
    permits.run(account, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    for (let turn = 0; turn < 10; turn++) await undefined;
  };
  return { permits, begun, run, end };
}

Deno.test("FairPermits of each account let one wait for its own operations only, in order of arrival", async () => {
  const { permits, begun, run, end } = stage({ each: 1 });
  const all = [run("globex", "g1"), run("globex", "g2"), run("acme", "a1"), run("acme", "a2"), run("acme", "a3")];
  assertEquals(begun, ["g1", "a1"]);
  assertEquals([permits.waitingOf("acme"), permits.waitingOf("globex")], [2, 1]);
  for (const name of ["a1", "a2", "g1"]) await end(name);
  assertEquals(begun, ["g1", "a1", "a2", "a3", "g2"]);
  for (const name of ["a3", "g2"]) await end(name);
  await Promise.all(all);
  assertEquals(permits.waitingOf("acme"), 0);
});

Deno.test("FairPermits of all accounts go to those that wait in turn", async () => {
  const { begun, run, end } = stage({ inAll: 1 });
  const all = [run("acme", "a1"), run("acme", "a2"), run("acme", "a3"), run("globex", "g1")];
  for (const name of ["a1", "a2", "g1", "a3"]) await end(name);
  assertEquals(begun, ["a1", "a2", "g1", "a3"]);
  await Promise.all(all);
});

Deno.test("FairPermits passes a permit on after a failure", async () => {
  const permits = new FairPermits({ inAll: 1 });
  const failed = permits.run("acme", () => Promise.reject(new Error("no"))).catch(() => "failed");
  const second = permits.run("acme", () => Promise.resolve("done"));
  assertEquals([await failed, await second], ["failed", "done"]);
});
