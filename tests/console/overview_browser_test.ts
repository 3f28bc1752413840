import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { trafficKey } from "../../src/observers/metrics/traffic_records.ts";
import type { TrafficTotals } from "../../src/observers/metrics/traffic_totals.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { startTestGateway } from "../support/gateway.ts";
import { checkPage, checkShown, endBrowser, type StageGateway, stageTest } from "./stage.ts";

const HALF_HOUR_MS = 1_800_000;
/** Half hours of the last day; in some of them no gateway ran. */
const HALF_HOURS = 48;
const isAway = (index: number) => index >= 20 && index < 25;

/** The traffic of half an hour that was busy by day, and in which a vendor failed for two hours. */
function trafficAt(index: number): TrafficTotals {
  const busy = 1 + Math.sin((index - 14) / HALF_HOURS * 2 * Math.PI);
  const requests = Math.round(4_000 + 9_000 * busy);
  const failing = index >= 33 && index < 37 ? Math.round(requests / 8) : Math.round(requests / 900);
  const errors = { invalid_request: Math.round(requests / 60), upstream_error: failing };
  const ranges = [0, 0, 1, 3, 9, 22, 34, 20, 7, 3, 1, 0, 0, 0, 0].map((share) => Math.round(share * requests / 100));
  return {
    requests,
    errors,
    inputTokens: requests * 1_800,
    outputTokens: requests * 420,
    costUnits: BigInt(requests) * 61_000_000n,
    durations: ranges,
    firstBytes: [...ranges.slice(2), 0, 0],
  };
}

/** A gateway whose store has the traffic of earlier processes. */
async function startWithTraffic(): Promise<StageGateway> {
  const folder = await Deno.makeTempDir();
  const store = await openKvStore({ path: `${folder}/store.kv`, clock: systemClock, log: silentLog });
  const start = systemClock.now() - HALF_HOURS * HALF_HOUR_MS;
  for (let index = 0; index < HALF_HOURS; index++) {
    if (isAway(index)) continue;
    const from = start + index * HALF_HOUR_MS;
    const value = { from, to: from + HALF_HOUR_MS, traffic: trafficAt(index) };
    await store.commit(null, { set: [{ key: trafficKey(from, "earlier"), value }] });
  }
  await store.close();
  const config = { request_log: { enabled: true }, files: folder };
  const gateway = await startTestGateway({ isLive: true, store: `kv:${folder}/store.kv`, config });
  return {
    ...gateway,
    async stop() {
      await gateway.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

stageTest("the overview has the traffic before a restart, and a gap where no gateway ran", async (stage) => {
  const { gateway, page, open, chat, signIn } = stage;
  for (const model of ["any-1", "chat-1", "chat-1", "messages-1", "content-1", "unknown"]) {
    await chat(`sandbox/${model}`);
  }
  await signIn(gateway.adminKey);
  await open("overview?span=day");
  const chart = page.getByRole("slider", { name: "Requests per second" });
  await chart.focus();
  const texts: string[] = [];
  const last = Number(await chart.getAttribute("aria-valuemax"));
  for (let place = 0; place <= last; place++) {
    await page.keyboard.press(place === 0 ? "Home" : "ArrowRight");
    texts.push(await chart.getAttribute("aria-valuetext") ?? "");
  }
  const gaps = texts.filter((text) => text.includes("succeeded –"));
  assertEquals(gaps.length, 1, texts.join("\n"));
  assert(texts.length > HALF_HOURS - 10, texts.join("\n"));
  await checkPage(stage, "overview?span=day", "overview");
}, { start: startWithTraffic });

stageTest(
  "the overview shows a time range of one's own, and is broken down by what callers and vendors did",
  async (stage) => {
    const { gateway, page, open, chat, signIn } = stage;
    for (const model of ["sandbox/chat-1", "sandbox/chat-1", "sandbox/unknown"]) await chat(model);
    await signIn(gateway.adminKey);
    const table = page.getByRole("table", { name: "Breakdown" });
    await table.getByRole("row", { name: /^sandbox\/chat-1 2 0 0/ }).waitFor();
    await table.getByRole("row", { name: /^sandbox\/unknown 1 1 0/ }).waitFor();
    for (const [group, name] of [["Provider", "sandbox-openai"], ["Account", "demo"], ["Key", "key_"]] as const) {
      await page.getByRole("group", { name: "Group by" }).getByRole("button", { name: group }).click();
      await table.getByRole("row", { name }).waitFor();
    }
    await page.getByText("1 by callers, 0 by vendors or gateway").waitFor();
    await page.getByRole("button", { name: "Custom" }).click();
    const { from, to } = await page.evaluate(`(() => {
    const local = (ms) => new Date(ms - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    return { from: local(Date.now() - 7_200_000), to: local(Date.now() - 3_600_000) };
  })()`) as { readonly from: string; readonly to: string };
    await page.getByLabel("From").fill(from);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await table.getByRole("row", { name: /key_/ }).waitFor();
    assertEquals(new URL(page.url()).searchParams.get("from"), from);
    await checkShown(stage, "overview-range");
    await page.setViewportSize({ width: 1_280, height: 860 });
    await page.getByLabel("To (empty: now)").fill(to);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("No requests").first().waitFor();
    await page.goBack();
    await table.getByRole("row", { name: /key_/ }).waitFor();
    await page.getByRole("button", { name: "Hour" }).click();
    assertEquals(new URL(page.url()).searchParams.has("from"), false);
    await open("usage");
    await page.getByRole("button", { name: "Custom" }).click();
    await page.getByLabel("From").fill(new Date().toISOString().slice(0, 10));
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByRole("table", { name: "Usage by model" }).getByRole("row", { name: /sandbox\/chat-1/ }).waitFor();
  },
);

endBrowser();
