import { assertEquals, assertStringIncludes } from "@std/assert";
import { startVideoGateway, type VideoGateway } from "../support/video_gateway.ts";
import { checkPage, checkShown, endBrowser, stageTest, titleAt } from "./stage.ts";

let videos: VideoGateway | null = null;

/** The gateway of the test that runs. */
async function start(): Promise<VideoGateway> {
  return videos = await startVideoGateway({ config: { request_log: { enabled: true } } });
}

function gatewayOfTest(): VideoGateway {
  if (videos === null) throw new Error("No gateway was started");
  return videos;
}

stageTest("a video goes from its create to the player, and its addresses are in the audit log", async (stage) => {
  const { page, open, signIn } = stage;
  const { create, until, adminKey } = gatewayOfTest();
  const id = await create({ provider: { options: { ark: { return_last_frame: true } } } });
  await until(id, "completed");
  await signIn(adminKey);
  await open("videos");
  await page.click(`a[href$="${id}"]`);
  await page.getByText("Accepted by the provider").waitFor();
  await page.getByText("Completed", { exact: true }).waitFor();
  await page.click("text=Show the results");
  const player = page.locator("video").first();
  await player.waitFor();
  await page.getByRole("img", { name: "Last frame" }).waitFor();
  const source = await player.getAttribute("src") ?? "";
  assertStringIncludes(source, "/console/api/files/");
  const fetched = await page.evaluate(
    `fetch(${JSON.stringify(source)}).then((response) => [response.status, response.headers.get("content-type")])`,
  );
  assertEquals(fetched, [200, "video/mp4"]);
  await checkShown(stage, "videos-video");
  await page.setViewportSize({ width: 1_280, height: 860 });
  await page.click("text=Copy the results again");
  await page.getByText("Copying the results again.").waitFor();
  await open("audit");
  await page.getByText(`opened the results of the task ${id}`).waitFor();
}, { start });

stageTest("a pending video is cancelled, and its money is free again", async ({ page, open, signIn }) => {
  const { create, money, adminKey } = gatewayOfTest();
  const id = await create({ prompt: "A lighthouse at dusk [[queue 600000]]" });
  await signIn(adminKey);
  await open(`videos/${id}`);
  await page.click("text=Cancel the task");
  await page.getByText("Cancelled", { exact: true }).waitFor();
  assertEquals(await money(), { balance: "25.0000000000", held: "0.0000000000" });
}, { start });

stageTest("a caller sees the tasks of its own key alone, plays a result and cancels a task", async (stage) => {
  const { page, open, signIn } = stage;
  const { create, until, key, otherKey, money } = gatewayOfTest();
  const done = await create({ prompt: "A lighthouse at dusk [[queue 0]] [[run 0]]" });
  await until(done, "completed");
  const pending = await create({ prompt: "A slow lighthouse [[queue 600000]]" });
  await signIn(key);
  await page.getByRole("link", { name: "Videos" }).click();
  await page.getByText("A slow lighthouse").waitFor();
  await checkPage(stage, "videos", "caller-videos");
  await page.click(`a[href$="${done}"]`);
  await page.getByText("Completed", { exact: true }).waitFor();
  const source = await page.locator("video").first().getAttribute("src") ?? "";
  assertStringIncludes(source, "/console/api/files/");
  const fetched = await page.evaluate(
    `fetch(${JSON.stringify(source)}).then((response) => [response.status, response.headers.get("content-type")])`,
  );
  assertEquals(fetched, [200, "video/mp4"]);
  await checkPage(stage, `videos/${done}`, "caller-videos-video");
  await open(`videos/${pending}`);
  await page.click("text=Cancel the task");
  await page.getByText("Cancelled", { exact: true }).waitFor();
  assertEquals((await money()).held, "0.0000000000");
  await page.click("[aria-label='Menu']");
  await page.click("[aria-label='Sign out']");
  await signIn(otherKey);
  await open("videos");
  await page.getByText("No video tasks").waitFor();
  await open(`videos/${done}`);
  assertStringIncludes(await page.locator("[role=alert]").innerText(), "Cannot find the video task");
}, { start, failures: [404] });

stageTest("the thumbnail of a video is shown, and is the first picture of its player", async (stage) => {
  const { page, open, signIn } = stage;
  const { create, until, key, adminKey } = gatewayOfTest();
  const id = await create({ model: "sandbox/video-fal" });
  while ((await until(id, "completed")).thumbnail_mirror_url === undefined);
  for (const signedIn of [key, adminKey]) {
    await signIn(signedIn);
    await open(`videos/${id}`);
    if (signedIn === adminKey) await page.click("text=Show the results");
    const picture = page.getByRole("img", { name: "Thumbnail" });
    await picture.waitFor();
    const source = await picture.getAttribute("src") ?? "";
    assertStringIncludes(source, "/console/api/files/");
    assertEquals(await page.locator("video").getAttribute("poster"), source);
    const isDrawn = `[...document.images].some(({ alt, naturalWidth }) => alt === "Thumbnail" && naturalWidth > 100)`;
    while (!await page.evaluate(isDrawn));
    await page.click("[aria-label='Sign out']");
    await page.waitForSelector("input[name=key]");
  }
}, { start });

stageTest("the playground shows the thumbnail of a video that it made", async ({ page, open, signIn }) => {
  await signIn(gatewayOfTest().key);
  await open("playground/videos");
  await page.locator(".play-settings select").first().selectOption("sandbox/video-fal");
  await page.fill("textarea[name=prompt]", "A lighthouse at dusk [[queue 0]] [[run 0]]");
  await page.click("text=Create");
  const picture = page.locator(".run").getByRole("img", { name: "Thumbnail" });
  await picture.waitFor();
  assertStringIncludes(await picture.getAttribute("src") ?? "", "/console/api/files/");
  await page.locator(".run video").waitFor();
}, { start });

stageTest("all deliveries of a span of time are delivered again", async (stage) => {
  const { page, open, signIn } = stage;
  const { create, call, adminKey } = gatewayOfTest();
  const owner = { authorization: `Bearer ${adminKey}` };
  const receiver = await call("POST", "/admin/v1/webhook-receivers", { account: "demo", minutes: 5 }, owner);
  const ids = [await create({ callback_url: receiver.json.url }), await create({ callback_url: receiver.json.url })];
  const attemptsOf = async (id: string): Promise<number> => {
    const { json } = await call("GET", `/admin/v1/deliveries/${id}`, undefined, owner);
    return json.state === "delivered" ? json.attempt_log.length : 0;
  };
  await signIn(adminKey);
  await open("webhooks");
  for (const id of ids) while (await attemptsOf(id) !== 1);
  await page.fill("input[name=from]", "2020-01-01T00:00");
  await page.fill("input[name=to]", "2990-01-01T00:00");
  await page.selectOption("select[name=state]", "delivered");
  await page.getByRole("button", { name: "Redeliver", exact: true }).click();
  await page.getByText("Redelivering 2.").waitFor();
  for (const id of ids) while (await attemptsOf(id) !== 2);
  await page.reload();
  await page.locator(".cut").first().waitFor();
  assertEquals(await titleAt(page, ".cut"), receiver.json.url);
}, { start });

stageTest("deliveries of a span of time are delivered again, also if there are none", async (stage) => {
  const { page, open, signIn } = stage;
  await signIn(gatewayOfTest().adminKey);
  await open("webhooks");
  await page.fill("input[name=from]", "2020-01-01T00:00");
  await page.fill("input[name=to]", "2990-01-01T00:00");
  await page.getByRole("button", { name: "Redeliver", exact: true }).click();
  await page.getByText("Redelivering 0.").waitFor();
}, { start });

stageTest("the calculator shows what quantities cost", async (stage) => {
  const { page, open, signIn } = stage;
  const { adminKey } = gatewayOfTest();
  await signIn(adminKey);
  await open("models/sandbox%2Fvideo-1");
  await page.fill("input[name=quantity-video_second]", "5");
  const sum = page.getByText("Total:");
  await page.getByText("video_second", { exact: true }).nth(1).waitFor();
  assertEquals(Number.parseFloat((await sum.innerText()).slice("Total: ".length)) > 0, true);
  await checkShown(stage, "models-model");
}, { start });

stageTest("a receiver shows what a webhook sent, and that it is verified", async (stage) => {
  const { page, open, signIn } = stage;
  const { create, adminKey } = gatewayOfTest();
  await signIn(adminKey);
  await open("webhooks/receiver");
  await page.fill("input[name=account]", "demo");
  await page.click('main button:text-is("Open")');
  await page.getByText("Nothing arrived yet").waitFor();
  const url = (await page.locator("pre").first().innerText()).trim();
  const id = await create({ callback_url: url });
  await page.getByText("from the gateway").waitFor();
  await page.getByText("verified", { exact: true }).waitFor();
  await page.getByText(id).first().waitFor();
  await fetch(url, { method: "POST", body: "<img src=x onerror=alert(1)>" }).then((sent) => sent.body?.cancel());
  await page.getByText("It has no signature").waitFor();
  assertEquals(await page.locator("main img").count(), 0);
  await checkPage(stage, new URL(page.url()).pathname.slice("/console/".length), "webhooks-receiver");
  await page.click('main button:text-is("Close")');
  await page.getByText("No receiver is open").waitFor();
}, { start });

endBrowser();
