import { assertEquals } from "@std/assert";
import { ROOT } from "../architecture/source_files.ts";
import { startBusyGateway } from "./busy_gateway.ts";
import { alertQueries, dashboardQueries, metricsIn } from "./queries.ts";

/** Served only where the store has a clock of its own. `tests/store/postgres` reads it. */
const WITH_POSTGRES = "switchyard_store_clock_ahead_seconds";

Deno.test("every metric in the dashboards, the alerts and the documentation is served by /metrics", async () => {
  const gateway = await startBusyGateway();
  try {
    const text = await gateway.metrics();
    const known = new Set([WITH_POSTGRES]).union(
      new Set(
        text.matchAll(/^# TYPE (\w+) (\w+)$/gm).flatMap(([, name, type]) =>
          type === "histogram" ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
        ),
      ),
    );
    const documentation = await Deno.readTextFile(`${ROOT}docs/api/health.md`);
    const queries = [...await dashboardQueries(), ...await alertQueries()];
    const unknown = [...queries, { place: "docs/api/health.md", expression: documentation }].flatMap((
      { place, expression },
    ) => metricsIn(expression).filter((name) => !known.has(name)).map((name) => `${place}: ${name}`));
    assertEquals(unknown, []);
  } finally {
    await gateway.stop();
  }
});
