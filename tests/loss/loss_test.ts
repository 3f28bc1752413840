import { assert, assertEquals } from "@std/assert";
import { FORMATS, VENDOR_FORMATS } from "../support/formats.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { packageOfTests } from "../support/packages.ts";
import { DONE, doneByGateway } from "./done_by_gateway.ts";
import { isSilent } from "./judgement.ts";
import { isSent, type Outcome, outcomeOf } from "./outcome.ts";
import { parametersOf } from "./parameters.ts";
import { probesOf } from "./probes.ts";

for (const from of FORMATS) {
  for (const to of VENDOR_FORMATS.filter((form) => form !== from)) {
    Deno.test(`every parameter of ${from} requests is sent to ${to}, reported as dropped, or rejected by name`, async () => {
      const baselines = new Map<string, Promise<Outcome>>();
      const silent = new Set<string>();
      const unsent = new Set<string>();
      for (const probe of probesOf(from, await parametersOf(from))) {
        const key = JSON.stringify(probe.without);
        if (!baselines.has(key)) baselines.set(key, outcomeOf(from, to, probe.without));
        const [outcome, baseline] = [await outcomeOf(from, to, probe.with), await baselines.get(key)!];
        if (isSilent(probe, outcome, baseline) && doneByGateway(from, to, probe) === null) silent.add(probe.title);
        if (outcome.kind === "sent") {
          for (const name of outcome.dropped) if (!isSent(probe.with, name.split("."))) unsent.add(name);
        }
      }
      assertEquals([...silent], []);
      assertEquals([...unsent], [], "only what the caller sent is named");
    });
  }
}

Deno.test("the parameter tables are not older than the clients that the tests use", async () => {
  for (const form of FORMATS) {
    const { package: name, version } = await parametersOf(form);
    const used = packageOfTests(name).split("@").at(-1)!;
    assert(compareVersions(version, used) >= 0, `${name} is at ${used}: run "deno task parameters"`);
  }
});

Deno.test("every parameter in the list of defaults exists", async () => {
  const titles = await Promise.all(FORMATS.map(async (form) => {
    return [form, probesOf(form, await parametersOf(form)).map(({ title }) => title)] as const;
  }));
  const all = new Map(titles);
  const stale = DONE.filter(({ from, title }) => !all.get(from)!.some((each) => title.test(each)));
  assertEquals(stale, []);
});

function compareVersions(one: string, other: string): number {
  const [ours, theirs] = atLeast([one, other].map((version) => version.split(".").map(Number)), 2);
  const at = ours.findIndex((part, index) => part !== theirs[index]);
  return at < 0 ? 0 : itemAt(ours, at) - itemAt(theirs, at);
}
