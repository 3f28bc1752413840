import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { mediaConfig } from "./media_models.ts";
import { startTestGateway } from "../support/gateway.ts";
import { overflowsOf } from "./overflows.ts";
import { checkPage, checkShown, endBrowser, fillJson, type StageGateway, stageTest } from "./stage.ts";
import { untilSo } from "../support/patience.ts";

const CAPTURE = {
  config: { request_log: { enabled: true, capture: { secret_key: "the-secret-of-the-operator", body: 10_000 } } },
};
const MEDIA = { config: mediaConfig(Deno.makeTempDirSync()) };

const DEFINITION = "Definition as JSON";
const PROTOCOLS = ["chat", "responses", "messages", "content"];
/** What a reply could do to a page that shows it as HTML. */
const ATTACKS = [
  '<img src=x onerror="document.title=1">',
  "<script>document.title=1</script>",
  '<a href="javascript:document.title=1">one</a>',
  "[two](javascript:document.title=1)",
  "[three](data:text/html,<script>document.title=1</script>)",
  "![four](https://other.example/pixel.png)",
  "<svg/onload=document.title=1>",
  "<iframe src=https://other.example></iframe>",
  "[five](vbscript:x) <style>*{display:none}</style>",
].join(" ");

/** Sends a message in the playground, and waits for the answers. */
async function ask(page: Page, text: string, count = 1): Promise<void> {
  await page.fill("textarea[name=prompt]", text);
  await page.click("text=Send");
  await page.locator(".reply-facts").nth(count - 1).waitFor();
}

/** Has the bodies of all requests of the account kept. */
async function captureAll({ address, adminKey }: StageGateway): Promise<void> {
  const response = await fetch(`${address}/admin/v1/accounts/demo`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ capture: "all" }),
  });
  await response.body?.cancel();
}

/** Waits until an expression is true in the page, whose policy forbids the browser's own waiting for one. */
async function until(page: Page, expression: string): Promise<void> {
  await untilSo(async () => await page.evaluate(expression));
}

stageTest("the playground streams an answer in each protocol, with its facts", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.key);
  await open("playground");
  await page.waitForSelector("textarea[name=prompt]");
  for (const protocol of PROTOCOLS) {
    await page.selectOption("select[name=protocol]", protocol);
    // It would take minutes, so what is shown has come before the end.
    await page.fill("textarea[name=prompt]", "[[gap 500]] [[words 500]]");
    await page.keyboard.press("Enter");
    await page.getByText("word2").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped.").waitFor();
    await page.click("text=New conversation");
    await ask(page, "one **two** three");
    const text = await page.locator(".reply-facts").innerText();
    for (const fact of ["in,", "out", "$0.00", "first byte", "total", "sandbox-openai", "nothing dropped", "req_"]) {
      assertStringIncludes(text, fact);
    }
    const answer = page.locator("article");
    assertStringIncludes(await answer.innerText(), "You said: one two three");
    assertEquals(await answer.locator("strong").innerText(), "two");
    await answer.locator("text=/Raw events/").click();
    assertStringIncludes(await answer.locator(".events").innerText(), "three");
    await answer.getByRole("button", { name: "Code" }).click();
    for (const language of ["curl", "Python", "TypeScript"]) {
      await answer.locator("button", { hasText: language }).click();
      const code = await answer.locator("pre").last().innerText();
      assertStringIncludes(code, "SWITCHYARD_KEY");
      assertStringIncludes(code, gateway.address);
      assert(!code.includes(gateway.key));
    }
    await page.click("text=New conversation");
  }
});

stageTest("the playground takes a tool from its definition to the answer with its result", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.key);
  await open("playground");
  await page.click("text=Add a tool");
  await fillJson(page, DEFINITION, "{");
  await page.getByText("This is not a JSON object.").waitFor();
  await fillJson(
    page,
    DEFINITION,
    '{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}',
  );
  await page.getByRole("textbox", { name: "Mock result" }).fill('{"degrees": 21}');
  await ask(page, '[[think It depends]] [[tool weather {"city":"Bern"}]] Please');
  await page.getByText("Call to weather").waitFor();
  assertStringIncludes(await page.locator(".call pre").innerText(), '"city": "Bern"');
  assert(await page.locator("button", { hasText: "Send" }).last().isDisabled());
  assertEquals(await page.locator("textarea[name=result0]").inputValue(), '{"degrees": 21}');
  await page.fill("textarea[name=result0]", "22 degrees");
  await page.click("text=Send results");
  await page.getByText("The tool weather answered: 22 degrees").first().waitFor();
});

stageTest("the playground shows markup, scripts and pictures of a reply as text", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.key);
  await open("playground");
  const title = await page.title();
  for (const text of [ATTACKS, `# ${ATTACKS}`, `- ${ATTACKS}`, `| a |\n|---|\n| ${ATTACKS.replaceAll("|", "")} |`]) {
    const again = page.locator("text=New conversation");
    if (await again.count() > 0) await again.click();
    await ask(page, text);
    const reply = page.locator("article .markdown");
    assertStringIncludes(await reply.innerText(), "<script>document.title=1</script>");
    assertEquals(await reply.locator("img, script, svg, iframe, style, [onerror], [onload]").count(), 0);
    assertEquals(await reply.locator("a").count(), 1);
    assertEquals(await reply.locator("a").getAttribute("href"), "https://other.example/pixel.png");
    assertEquals(await page.title(), title);
  }
});

stageTest("the playground sends to two models, shows thinking, and stops", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.key);
  await open("playground");
  await page.getByText("Two models side by side").click();
  await page.locator(".pane select").nth(0).selectOption("sandbox/messages-1");
  await page.locator(".pane select").nth(1).selectOption("sandbox/content-1");
  await page.selectOption("select[name=protocol]", "messages");
  await page.selectOption("select[name=thinking]", "low");
  await ask(page, "[[think It depends]] hello", 2);
  assertEquals(await page.getByText("You said: hello").count(), 2);
  assertEquals(await page.locator(".thinking p").allTextContents(), ["It depends", "It depends"]);
  await page.fill("textarea[name=prompt]", "[[gap 200]] [[words 500]]");
  await page.click("text=Send");
  await page.getByText("word2").nth(1).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped.").nth(1).waitFor();
  await ask(page, "and on", 6);
  assertEquals(await page.getByText("You said: and on").count(), 2);
});

stageTest("the playground answers by a schema, sends a file, and names what was dropped", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.key);
  await open("playground");
  await page.locator(".pane select").selectOption("sandbox/messages-1");
  await page.fill("input[name=temperature]", "1.5");
  await page.setInputFiles("input[type=file]", {
    name: "dot.png",
    mimeType: "image/png",
    buffer: PIXEL,
  });
  await page.getByAltText("dot.png").waitFor();
  await ask(page, "look");
  await page.getByText("I see 1 image (image/png").waitFor();
  await page.getByText("Structured output").click();
  await ask(page, "look again", 2);
  assertMatch(await page.locator(".answer-json").innerText(), /"title": /);
});

stageTest("a failure in the playground has its message and the id of the request", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.key);
  await open("playground");
  await ask(page, "[[fail 400 No such thing]]");
  const notice = page.locator("article [role=alert]");
  await notice.waitFor();
  assertMatch(await notice.innerText(), /No such thing[^]*req_\w+/);
  await ask(page, "again");
  await page.getByText("You said: again").waitFor();
}, { failures: [400] });

stageTest("an operator chooses the account that pays in the playground", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("playground");
  await page.locator("select[name=payer] option").nth(1).waitFor({ state: "attached" });
  await page.selectOption("select[name=payer]", "");
  await page.fill("textarea[name=prompt]", "hello");
  assert(await page.locator("button", { hasText: "Send" }).isDisabled());
  await page.selectOption("select[name=payer]", "demo");
  await ask(page, "hello");
  await page.locator(".reply-facts a").click();
  await page.getByText("/v1/chat/completions").first().waitFor();
  await page.getByRole("link", { name: "demo" }).waitFor();
});

stageTest("the playground makes a picture, changes its painted part, and takes it as reference", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.key);
  await open("playground/pictures");
  await page.fill("textarea[name=prompt]", "A lighthouse at dusk");
  await page.click("text=Create");
  await page.locator(".pictures img").waitFor();
  const facts = await page.locator(".reply-facts").innerText();
  for (const fact of ["in,", "$0.00", "total", "sandbox-openai", "req_"]) assertStringIncludes(facts, fact);
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const area = page.locator("canvas");
  await area.scrollIntoViewIfNeeded();
  const box = await area.boundingBox();
  assert(box !== null);
  await page.mouse.move(box.x + 30, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 120, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.locator("button:not([disabled])", { hasText: "Clear the mask" }).waitFor();
  await page.click("text=Clear the mask");
  await page.locator("button[disabled]", { hasText: "Clear the mask" }).waitFor();
  await area.focus();
  for (const key of ["ArrowLeft", "ArrowLeft", "ArrowUp", "ArrowUp", "Space"]) await page.keyboard.press(key);
  await page.locator("button:not([disabled])", { hasText: "Clear the mask" }).waitFor();
  const painted = "document.querySelector('canvas').getContext('2d').getImageData(450, 450, 1, 1).data[3]";
  assertEquals(await page.evaluate(painted), 255);
  await page.fill("textarea[name=prompt]", "The same at night");
  await page.click("text=Create");
  await page.locator(".run").nth(1).waitFor();
  await page.locator(".run").first().locator(".pictures img").waitFor();
  const edit = gateway.sandbox.requests.at(-1);
  assertStringIncludes(edit?.path ?? "", "/images/edits");
  await page.locator(".run").first().getByRole("button", { name: "Code" }).click();
  assertStringIncludes(await page.locator(".run pre").first().innerText(), "mask=@mask.png");
  await page.evaluate("scrollTo(0, 0)");
  await checkShown(stage, "playground-pictures");
  await page.setViewportSize({ width: 1_280, height: 860 });
  await page.locator(".run").first().getByRole("button", { name: "As reference" }).click();
  await page.fill("textarea[name=prompt]", "[[fail 400 No such picture]]");
  await page.click("text=Create");
  const notice = page.locator(".run [role=alert]");
  await notice.waitFor();
  assertMatch(await notice.innerText(), /No such picture[^]*req_\w+/);
}, { ...MEDIA, failures: [400] });

stageTest("a painted mask is drawn again after another page and after another use of the picture", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.key);
  await open("playground/pictures");
  await page.fill("textarea[name=prompt]", "A lighthouse at dusk");
  await page.click("text=Create");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const area = page.locator("canvas");
  await until(
    page,
    "document.querySelector('.mask-area img')?.naturalWidth === document.querySelector('canvas').width",
  );
  await area.focus();
  await page.keyboard.press("Space");
  await page.locator("button:not([disabled])", { hasText: "Clear the mask" }).waitFor();
  const pixels = `(() => {
    const area = document.querySelector("canvas");
    const { data } = area?.getContext("2d").getImageData(0, 0, area.width, area.height) ?? { data: [] };
    return data.filter((value, place) => place % 4 === 3 && value > 127).length;
  })()`;
  const painted = await page.evaluate(pixels);
  assert(Number(painted) > 1_000, `${painted} pixels are painted`);
  await page.getByRole("link", { name: "Requests" }).click();
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  await page.getByRole("link", { name: "Playground" }).click();
  await page.getByRole("link", { name: "Images" }).click();
  await until(page, `${pixels} === ${painted}`);
  await page.getByRole("button", { name: "References" }).click();
  await area.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Change the first" }).click();
  await until(page, `${pixels} === ${painted}`);
  // What is painted now is added to it.
  await area.focus();
  for (let press = 0; press < 8; press++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Space");
  await until(page, `${pixels} > ${painted}`);
  const both = await page.evaluate(pixels);
  await page.getByRole("button", { name: "References" }).click();
  await page.getByRole("button", { name: "Change the first" }).click();
  await until(page, `${pixels} === ${both}`);
  await page.click("text=Clear the mask");
  await until(page, `${pixels} === 0`);
}, MEDIA);

stageTest("on a phone, the end of an answer is above the place where the next message is written", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.key);
  await page.setViewportSize({ width: 360, height: 740 });
  await open("playground");
  const placeOf = async (selector: string) => {
    const box = await page.locator(selector).last().boundingBox();
    assert(box !== null, selector);
    return { top: box.y, bottom: box.y + box.height };
  };
  const isShown = async () => (await placeOf(".pane")).bottom <= (await placeOf(".composer")).top;
  await ask(page, "[[words 400]]");
  assert(await isShown());
  const [attach, send] = [await placeOf(".composer .file-button"), await placeOf(".composer .primary")];
  assert(send.top < attach.bottom, "Send has a row of its own");
  assertEquals(await overflowsOf(page), []);
  // It follows while an answer arrives, until the person scrolls back.
  await page.fill("textarea[name=prompt]", "[[gap 40]] [[words 2000]]");
  await page.click("text=Send");
  await page.getByText("word150").nth(1).waitFor();
  assert(await isShown());
  await page.mouse.wheel(0, -2_000);
  await until(page, "scrollY < document.documentElement.scrollHeight - innerHeight - 1000");
  const before = Number(await page.evaluate("scrollY"));
  await page.getByText("word250").nth(1).waitFor();
  assertEquals(await page.evaluate("scrollY"), before);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped.").waitFor();
});

stageTest("the playground shows the pictures of a conversation", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.key);
  await open("playground");
  await page.locator(".pane select").selectOption("sandbox/image-multimodal-1");
  await page.selectOption("select[name=protocol]", "content");
  await ask(page, "A lighthouse");
  await page.locator("article img.picture").waitFor();
}, MEDIA);

stageTest("the playground makes a video, from its estimate to its player, and cancels another", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("playground/videos");
  await page.fill("textarea[name=prompt]", "A lighthouse at dusk");
  await page.fill("input[name=duration]", "4");
  await page.setInputFiles("input[type=file]", { name: "dot.png", mimeType: "image/png", buffer: PIXEL });
  await page.getByAltText("dot.png").waitFor();
  await page.getByRole("button", { name: "Estimate" }).click();
  await page.getByText("estimated $0.40").waitFor();
  await page.getByRole("button", { name: "Remove dot.png" }).click();
  await page.click("text=Create");
  await page.locator("video").waitFor();
  await until(page, "document.querySelector('video').readyState > 0");
  assertEquals(await page.evaluate("document.querySelector('video').error"), null);
  assert(Number(await page.evaluate("document.querySelector('video').duration")) > 0.5);
  const facts = await page.locator(".reply-facts").innerText();
  assertMatch(facts, /accepted after \d+[^]*the video took \d+/);
  assertEquals(facts.includes("first byte"), false);
  await page.locator(".run").getByRole("button", { name: /Raw events/ }).click();
  assertMatch(await page.locator(".events").innerText(), /"pending"[^]*GET[^]*"completed"/);
  await page.locator(".run").getByRole("button", { name: "Code" }).click();
  assertStringIncludes(await page.locator(".run pre").innerText(), "/v1/videos");
  await checkShown(stage, "playground-videos");
  await page.setViewportSize({ width: 1_280, height: 860 });
  await page.fill("textarea[name=prompt]", "[[run 600000]] Another one");
  await page.click("text=Create");
  await page.locator(".run").first().getByRole("button", { name: "Cancel" }).click();
  await page.locator(".run").first().getByText("cancelled").waitFor();
}, MEDIA);

stageTest("the playground makes videos from a first and a last frame, and from references", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  const picture = (name: string) => ({ name, mimeType: "image/png", buffer: PIXEL });
  const choose = (title: string, ...names: string[]) =>
    page.locator("label", { hasText: title }).locator("input").setInputFiles(names.map(picture));
  const modes = async () => {
    const headers = { authorization: `Bearer ${gateway.adminKey}` };
    const { data } = await (await fetch(`${gateway.address}/admin/v1/tasks`, { headers })).json();
    return data.map(({ mode, status }: Record<string, string>) => `${mode} ${status}`);
  };
  await signIn(gateway.key);
  await open("playground/videos");
  await page.fill("textarea[name=prompt]", "A lighthouse at dusk");
  await choose("First frame", "first.png");
  await page.getByAltText("first.png").waitFor();
  await choose("Last frame", "last.png");
  await page.getByAltText("last.png").waitFor();
  await page.click("text=Create");
  await page.locator(".run video").waitFor();
  assertEquals(await modes(), ["img2video_end completed"]);
  for (const name of ["last.png", "first.png"]) await page.getByRole("button", { name: `Remove ${name}` }).click();
  await choose("References", "one.png", "two.png");
  await page.getByAltText("two.png").waitFor();
  await page.click("text=Create");
  await page.locator(".run video").nth(1).waitFor();
  assertEquals(await modes(), ["imgref2video completed", "img2video_end completed"]);
}, MEDIA);

stageTest("a captured request is opened in the playground, with its account, and sent again", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await captureAll(gateway);
  const response = await fetch(`${gateway.address}/msgcompat/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": gateway.key, "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({
      model: "sandbox/messages-1",
      max_tokens: 77,
      system: "Be brief",
      messages: [
        { role: "user", content: "one" },
        { role: "assistant", content: "two" },
        { role: "user", content: "three <b>" },
      ],
    }),
  });
  await response.text();
  const id = response.headers.get("x-service-request-id");
  await signIn(gateway.adminKey);
  await open("requests");
  await page.click("text=Live");
  await page.click(`a[href$="${id}"]`);
  await page.click("text=Open in the playground");
  await until(page, "document.querySelector('textarea[name=prompt]')?.value === 'three <b>'");
  assertEquals(await page.locator("select[name=protocol]").inputValue(), "messages");
  assertEquals(await page.locator("input[name=maxTokens]").inputValue(), "77");
  assertEquals(await page.locator("textarea[name=system]").inputValue(), "Be brief");
  assertEquals(await page.locator("select[name=payer]").inputValue(), "demo");
  assertEquals(await page.locator(".turn").count(), 2);
  await page.click("text=Send");
  await page.getByText("You said: three <b>").waitFor();
}, CAPTURE);

stageTest("of a request without a kept body, the playground takes over the model and the protocol", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  const response = await fetch(`${gateway.address}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/content-1", input: "hello" }),
  });
  await response.text();
  const id = response.headers.get("x-service-request-id");
  const notices = {
    [gateway.adminKey]: "The body of this request was not kept",
    [gateway.key]: "shows no bodies to API keys",
  };
  for (const [key, notice] of Object.entries(notices)) {
    await signIn(key);
    await open("requests");
    await page.click("text=Live");
    await page.click(`a[href$="${id}"]`);
    await page.getByRole("link", { name: "Open in the playground" }).waitFor();
    const isOwner = key === gateway.adminKey;
    assertEquals(await page.getByText("The bodies of this request were not kept").count(), isOwner ? 1 : 0);
    assertEquals(await page.getByText("Show bodies").count(), 0);
    await page.click("text=Open in the playground");
    await page.getByText(notice).waitFor();
    assertEquals(await page.locator("select[name=protocol]").inputValue(), "responses");
    assertEquals(await page.locator(".pane select").inputValue(), "sandbox/content-1");
    await ask(page, "hello");
    await page.getByText("You said: hello").waitFor();
    assertEquals(await page.locator("[role=alert]").count(), 0);
    await page.click("[aria-label='Sign out']");
    await page.waitForSelector("input[name=key]");
  }
});

const REPLY = `# Trains in Bern

A **short** list, with \`code\` and a [link](https://example.com):

1. The first
2. The second

| Line | Minutes |
| :--- | ------: |
| S1   |      12 |
| S2   |      30 |

\`\`\`ts
const next = trains.filter(({ line }) => line === "S1");
\`\`\`

> Doors close ten seconds before.`;

stageTest(
  "requests of the playground are in the list of requests on demand, and the console's keys too",
  async (stage) => {
    const { gateway, page, open, chat, signIn } = stage;
    const id = await chat("sandbox/chat-1");
    await signIn(gateway.adminKey);
    await open("playground");
    await ask(page, "From the playground");
    await open("requests");
    const rows = page.getByRole("table", { name: "Requests, newest first" }).locator("tbody tr");
    await page.waitForSelector(`a[href$="${id}"]`);
    assertEquals(await rows.count(), 1);
    await page.getByRole("link", { name: "Show them" }).click();
    await rows.nth(1).waitFor();
    await open("requests?playground=only");
    await rows.first().waitFor();
    assertEquals([await rows.count(), await page.locator(`a[href$="${id}"]`).count()], [1, 0]);
    await open("accounts/demo");
    const keys = page.getByRole("table", { name: "Keys of the account" }).locator("tbody tr");
    await page.getByLabel("Show keys of the console (1)").check();
    await keys.nth(1).waitFor();
    await page.getByLabel("Show keys of the console (1)").uncheck();
    await keys.nth(1).waitFor({ state: "detached" });
  },
);

stageTest("the playground is accessible and fits into the window", async (stage) => {
  const { gateway, page, signIn } = stage;
  await signIn(gateway.adminKey);
  await checkPage(stage, "playground", "playground");
  await page.setViewportSize({ width: 1_280, height: 860 });
  await stage.open("playground");
  await page.fill("textarea[name=system]", "Be brief");
  await ask(page, REPLY);
  await page.getByText("Two models side by side").click();
  await page.click("text=Add a tool");
  await ask(page, '[[think The city is Bern]] [[tool get_weather {"city":"Bern"}]] How is the weather?', 3);
  await page.locator("article").first().getByRole("button", { name: "Code" }).click();
  await page.locator("article").last().locator("text=/Raw events/").click();
  await page.getByText("Structured output").click();
  await page.getByRole("textbox", { name: "JSON Schema of the answer" }).waitFor();
  await page.locator(".json-editor").nth(1).waitFor();
  await page.evaluate("scrollTo(0, 0)");
  await checkShown(stage, "playground-chat");
});

const KEPT = { folder: Deno.makeTempDirSync(), port: 0, key: "key-of-the-caller" };

/** A gateway on one store and one port, which can be started again. */
async function startAgain(): Promise<StageGateway> {
  const { folder, port, key } = KEPT;
  const gateway = await startTestGateway({
    store: `kv:${folder}/store.kv`,
    config: {
      server: { port, admin_key: "key-of-the-owner", shutdown_grace: 1 },
      accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
      files: folder,
    },
  });
  KEPT.port = Number(new URL(gateway.address).port);
  let stopped: Promise<void> | null = null;
  return { ...gateway, key, stop: () => stopped ??= gateway.stop() };
}

stageTest(
  "a conversation and the sign-in survive a restart of the gateway, and the sign-out ends both",
  async (stage) => {
    const { gateway, page, open, signIn } = stage;
    await signIn(gateway.key);
    await open("playground");
    await page.fill("textarea[name=system]", "Be brief");
    await ask(page, "The first message");
    await page.fill("textarea[name=prompt]", "Not sent yet");
    await until(page, "JSON.stringify({ ...sessionStorage }).includes('Not sent yet')");
    await gateway.stop();
    const restarted = await startAgain();
    try {
      await page.reload();
      await page.getByText("You said: The first message").waitFor();
      assertEquals(await page.inputValue("textarea[name=prompt]"), "Not sent yet");
      assertEquals(await page.inputValue("textarea[name=system]"), "Be brief");
      await ask(page, "The second message", 2);
      await page.getByText("You said: The second message").waitFor();
      assertEquals(await page.evaluate("JSON.stringify({ ...localStorage })"), "{}");
      await page.click("[aria-label='Sign out']");
      await page.waitForSelector("input[name=key]");
      assertEquals(await page.evaluate("JSON.stringify({ ...sessionStorage })"), "{}");
      await signIn(KEPT.key);
      await open("playground");
      await page.getByText("Try a model").waitFor();
    } finally {
      await restarted.stop();
    }
  },
  { start: startAgain, isAway: true },
);

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

stageTest("the playground takes over a picture edit, whose pictures are chosen again", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await captureAll(gateway);
  const form = new FormData();
  for (const [name, value] of [["model", "sandbox/image-1"], ["prompt", "Paint it red"], ["n", "2"]] as const) {
    form.append(name, value);
  }
  form.append("image[]", new Blob([PIXEL]), "dot.png");
  const headers = { authorization: `Bearer ${gateway.key}` };
  const response = await fetch(`${gateway.address}/v1/images/edits`, { method: "POST", headers, body: form });
  await response.text();
  await signIn(gateway.adminKey);
  await open("requests");
  await page.click("text=Live");
  await page.click(`a[href$="${response.headers.get("x-service-request-id")}"]`);
  await page.click("text=Open in the playground");
  await page.getByText("Choose the images of this edit again").waitFor();
  assertEquals(await page.locator("textarea[name=prompt]").inputValue(), "Paint it red");
  assertEquals(await page.locator("input[name=count]").inputValue(), "2");
  assertEquals(await page.getByRole("button", { name: "Create" }).isDisabled(), true);
  await page.setInputFiles("input[type=file]", { name: "dot.png", mimeType: "image/png", buffer: PIXEL });
  await page.click("text=Create");
  await page.locator(".run .pictures img").first().waitFor();
  assertStringIncludes(gateway.sandbox.requests.at(-1)?.path ?? "", "/images/edits");
}, { config: { ...MEDIA.config, ...CAPTURE.config } });

endBrowser();
