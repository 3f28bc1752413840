import { assertEquals, assertMatch } from "@std/assert";
import { ROOT } from "../architecture/source_files.ts";
import { type BusyGateway, startBusyGateway } from "./busy_gateway.ts";
import { run } from "./debian_packages.ts";
import { prometheusPrograms } from "./prometheus_programs.ts";
import { type PrometheusServer, startPrometheus } from "./prometheus_server.ts";
import { alertQueries, dashboardQueries, metricsIn, type OpsQuery } from "./queries.ts";

/** Set by `deno task test:ops`, because the test installs a program. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_OPS");
const folder = isWanted ? await Deno.makeTempDir() : "";
let reason = "deno task test:ops runs it";
const programs = isWanted
  ? await prometheusPrograms(folder).catch((error) => {
    if (Deno.env.has("CI")) throw error; // a check that is skipped there would never fail
    reason = error.message;
    console.log(`skipped: ${reason}`);
    return null;
  })
  : null;
const ignore = programs === null;
const suffix = ignore ? ` (skipped: ${reason})` : "";

globalThis.addEventListener("unload", () => {
  if (folder !== "") Deno.removeSync(folder, { recursive: true });
});

/** The configuration of `ops` for a gateway, with short intervals; returns its path. */
async function writeConfiguration({ target, adminKey }: Pick<BusyGateway, "target" | "adminKey">): Promise<string> {
  const example = await Deno.readTextFile(`${ROOT}ops/prometheus/prometheus.yaml`);
  const config = example.replace("127.0.0.1:8787", target).replaceAll(": 15s", ": 500ms");
  await Deno.writeTextFile(`${folder}/prometheus.yaml`, config);
  await Deno.writeTextFile(`${folder}/switchyard_admin_key`, `${adminKey}\n`);
  await Deno.copyFile(`${ROOT}ops/prometheus/alerts.yaml`, `${folder}/alerts.yaml`);
  return `${folder}/prometheus.yaml`;
}

Deno.test({
  name: `promtool accepts the alerts and the example configuration${suffix}`,
  ignore,
  async fn() {
    const { promtool } = programs!;
    const config = await writeConfiguration({ target: "127.0.0.1:8787", adminKey: "key" });
    assertMatch(await run(promtool, ["check", "rules", "alerts.yaml"], folder), /SUCCESS: \d+ rules found/);
    assertMatch(await run(promtool, ["check", "config", config], folder), /is valid prometheus config/);
  },
});

Deno.test({
  name: `the alerts fire for the values that they are meant for, and for no others${suffix}`,
  ignore,
  async fn() {
    await writeConfiguration({ target: "127.0.0.1:8787", adminKey: "key" });
    await Deno.copyFile(`${ROOT}tests/ops/alerts_test.yaml`, `${folder}/alerts_test.yaml`);
    await run(programs!.promtool, ["test", "rules", "alerts_test.yaml"], folder);
    const tests = await Deno.readTextFile(`${folder}/alerts_test.yaml`);
    const untested = (await alertQueries()).map(({ place }) => place.split(": ")[1]).filter((alert) =>
      !new RegExp(`alertname: ${alert}\\n +exp_alerts:\\n`).test(tests)
    );
    assertEquals(untested, []);
  },
});

Deno.test({
  name:
    `every query of the dashboards returns data of a busy gateway, and every alert refers to metrics of it${suffix}`,
  ignore,
  async fn() {
    const gateway = await startBusyGateway();
    const prometheus = await startPrometheus(programs!.prometheus, await writeConfiguration(gateway), folder);
    try {
      const alerts = await alertQueries();
      for (const { place, expression } of alerts) await valuesOf(prometheus, { place, expression });
      const metrics = alerts.flatMap(({ place, expression }) =>
        [...metricsIn(expression), "up"].map((name) => ({ place, expression: name }))
      );
      const dashboards = (await dashboardQueries()).filter(({ expression }) => !RARE.test(expression));
      await untilAllReturnData(prometheus, gateway, [...dashboards, ...metrics]);
    } finally {
      await prometheus.stop();
      await gateway.stop();
    }
  },
});

/**
 * Metrics that a database has, or what operators and long conversations alone cause. Their own tests have their values.
 */
const RARE =
  /switchyard_(?:accounts_low|cache_(?:saved|extra)_usd_total|provider_halted|store_clock_ahead_seconds|unknown_refusals_total|unpriced_usage_total)/;

/** A rate needs several scrapes; after so many, a query without data is wrong. */
const MAX_SCRAPES = 30;

/** Sends traffic until each query has returned data. */
async function untilAllReturnData(
  prometheus: PrometheusServer,
  gateway: BusyGateway,
  queries: readonly OpsQuery[],
): Promise<void> {
  let empty = queries;
  for (let scrapes = 0; empty.length > 0 && scrapes < MAX_SCRAPES;) {
    await gateway.work();
    [scrapes = 0] = await prometheus.values("count_over_time(up[1h])");
    const left: OpsQuery[] = [];
    for (const query of empty) if ((await valuesOf(prometheus, query)).length === 0) left.push(query);
    empty = left;
  }
  assertEquals(empty.map(({ place, expression }) => `${place}: ${expression}`), []);
}

async function valuesOf(prometheus: PrometheusServer, { place, expression }: OpsQuery): Promise<number[]> {
  try {
    return await prometheus.values(expression);
  } catch (error) {
    throw new Error(`${place}: ${error instanceof Error ? error.message : error}`);
  }
}
