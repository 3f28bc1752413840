import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { checkPage, checkShown, endBrowser, type Stage, stageTest } from "./stage.ts";

/** Shows the difference of a form, and applies it. */
async function apply({ page }: Stage): Promise<void> {
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.getByRole("button", { name: "Apply" }).click();
}

stageTest("a provider is added with its key and tested, a model with prices, an alias and a price", async (stage) => {
  const { gateway, page, open, chat, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("providers");
  await page.getByRole("link", { name: "Add a provider" }).click();
  await page.getByLabel("Vendor").selectOption("together");
  await page.getByLabel("Key", { exact: true }).fill("sandbox-key-openai");
  await page.getByLabel("Address (optional)").fill(gateway.sandbox.baseUrls.openai);
  const part = page.getByLabel("As in switchyard.yaml").last();
  assertStringIncludes(await part.innerText(), "api_key: ${TOGETHER_API_KEY}");
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.getByText("providers.together").waitFor();
  await checkShown(stage, "form-provider");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("The vendor accepts the credential").waitFor();
  await page.getByText("This provider serves no model yet").waitFor();
  await checkShown(stage, "form-provider-added");

  await page.getByRole("link", { name: "Add a model" }).click();
  assertEquals(await page.getByLabel("Provider").inputValue(), "together");
  await page.getByLabel("Model at the vendor").fill("chat-1");
  await page.getByLabel("Input", { exact: true }).fill("2.50");
  await page.getByLabel("Output", { exact: true }).fill("10");
  await page.getByLabel("Context in tokens (optional)").fill("128,000");
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.getByText("models.together/chat-1").waitFor();
  await checkShown(stage, "form-model");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("heading", { name: "together/chat-1" }).waitFor();
  await page.getByText("$2.50 per million tokens").waitFor();

  await page.getByRole("link", { name: "Add an alias" }).click();
  await page.getByLabel("Alias", { exact: true }).fill("fast");
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.getByText("aliases.fast").waitFor();
  await checkShown(stage, "form-alias");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("link", { name: "fast", exact: true }).waitFor();
  const id = await chat("fast");

  await page.getByRole("link", { name: "Change prices" }).click();
  await page.getByLabel("completion, USD per million").fill("12");
  await page.getByLabel("Add a price").selectOption("input_cache_read");
  await page.getByLabel("input_cache_read, USD per million").fill("0.25");
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.getByText('completion_per_million "10" → "12"').waitFor();
  await checkShown(stage, "form-price");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("$12.00 per million tokens").waitFor();
  await page.getByText("$0.25 per million tokens").waitFor();
  await open(`requests/${id}`);
  await page.getByText("$10.00 per million tokens").waitFor();
});

stageTest(
  "a model of each kind is added with prices in the vendors' units, after its difference was shown",
  async (stage) => {
    const { gateway, page, open, signIn } = stage;
    await signIn(gateway.adminKey);
    const fields: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
      Images: [["Per image", "0.04"]],
      Videos: [["720p", "0.10"], ["Lengths in seconds (optional)", "5, 10"]],
      Speech: [["Per million characters", "15"], ["Voices (optional)", "alloy, echo"]],
      Transcripts: [["Per minute of audio", "0.006"]],
      Rankings: [["Per thousand searches", "2.00"]],
      Moderations: [["Per million input tokens", "0.10"]],
      Embeddings: [["Input", "0.02"]],
    };
    const shown: Readonly<Record<string, string>> = {
      Images: "$0.04 per image",
      Videos: "$0.10 per second of video",
      Speech: "$15.00 per million characters",
      Transcripts: "$0.0001 per second of audio",
      Rankings: "$0.002 per search unit",
      Moderations: "$0.10 per million tokens",
      Embeddings: "$0.02 per million tokens",
    };
    for (const [kind, typed] of Object.entries(fields)) {
      await open("models?form=model&provider=sandbox-openai");
      await page.getByLabel("Model at the vendor").fill(`${kind.toLowerCase()}-9`);
      await page.getByRole("group", { name: "Makes" }).getByRole("button", { name: kind }).click();
      for (const [label, text] of typed) await page.getByLabel(label, { exact: true }).fill(text);
      await page.getByRole("button", { name: "Show the difference" }).click();
      await page.getByText(`models.sandbox-openai/${kind.toLowerCase()}-9`).waitFor();
      if (kind === "Videos" || kind === "Images") await checkShown(stage, `form-model-${kind.toLowerCase()}`);
      await page.setViewportSize({ width: 1_280, height: 860 });
      await page.getByRole("button", { name: "Apply" }).click();
      await page.getByRole("heading", { name: `sandbox-openai/${kind.toLowerCase()}-9` }).waitFor();
      await page.getByText(shown[kind] ?? "nothing").first().waitFor();
    }
  },
);

stageTest("a name that exists is not written over, and what the form lacks is said by the gateway", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("providers?form=provider");
  await page.getByLabel("Name").fill("sandbox-openai");
  await page.getByText("sandbox-openai already exists").waitFor();
  assert(await page.getByRole("button", { name: "Show the difference" }).isDisabled());
  await open("models?form=alias&model=nothing/here");
  await page.getByLabel("Alias", { exact: true }).fill("fast");
  await page.getByRole("button", { name: "Show the difference" }).click();
  assertStringIncludes(await page.locator("[role=alert]").innerText(), "nothing/here");
  await page.getByLabel("Model", { exact: true }).fill("sandbox/chat-1");
  assertEquals(await page.locator("[role=alert]").count(), 0);
  await apply(stage);
  await page.getByRole("link", { name: "fast", exact: true }).waitFor();
}, { failures: [400] });

stageTest("a key is reviewed before it is created, and has a first request for each client", async (stage) => {
  const { gateway, page, open, chat, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("accounts/demo");
  await page.getByRole("link", { name: "Create a key" }).click();
  await page.getByLabel("Name").fill("search");
  await page.getByLabel("Budget in USD").fill("5");
  await page.getByText("More limits").click();
  await page.getByLabel("Models").fill("sandbox/chat-1, sandbox/content-*");
  await checkShown(stage, "form-key");
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.getByText("5 USD per day").waitFor();
  await checkShown(stage, "form-key-review");
  await page.getByRole("button", { name: "Back" }).click();
  assertEquals(await page.getByLabel("Name").inputValue(), "search");
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.getByRole("button", { name: "Create the key" }).click();
  const secret = await page.locator(".secret code").innerText();
  const choice = page.locator(".use-key select");
  await choice.waitFor();
  const models = await choice.locator("option").allInnerTexts();
  assertEquals(models, ["sandbox/chat-1", "sandbox/content-1"]);
  const snippet = page.locator(".panel pre").last();
  for (
    const [client, text] of [
      ["curl", `${gateway.address}/v1/chat/completions`],
      ["OpenAI Python", "from openai import OpenAI"],
      ["OpenAI TypeScript", 'import OpenAI from "openai"'],
      ["Anthropic Python", "from anthropic import Anthropic"],
      ["Google Python", "gencompat"],
      ["Codex", 'env_key = "SWITCHYARD_KEY"'],
      ["Claude Code", `ANTHROPIC_BASE_URL=${gateway.address}/msgcompat`],
    ] as const
  ) {
    await page.getByRole("button", { name: client }).click();
    assertStringIncludes(await snippet.innerText(), text);
    assert(!(await snippet.innerText()).includes(secret));
  }
  await checkShown(stage, "form-key-ready");
  await chat("sandbox/chat-1", secret);
  await page.getByRole("link", { name: "Open the account" }).click();
  await page.getByText("search").first().waitFor();
});

stageTest("a part of the file is offered where settings cannot be stored", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  const created = await fetch(`${gateway.address}/admin/v1/admin-keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "writer", role: "write" }),
  });
  await signIn((await created.json()).secret);
  await open("models?form=model");
  await page.getByText("Only an operator with the role owner can change this").waitFor();
  await page.getByLabel("Model at the vendor").fill("chat-2");
  assertStringIncludes(await page.locator("pre").innerText(), "id: sandbox-openai/chat-2");
  assertEquals(await page.getByText("Show the difference").count(), 0);
  await checkPage(stage, "models?form=model", "form-model-read-only");
});

stageTest(
  "a provider is drained with a reason on its page, which the overview shows, and switched on again",
  async (stage) => {
    const { gateway, page, open, signIn } = stage;
    await signIn(gateway.adminKey);
    await open("providers/sandbox-google");
    await page.getByRole("group", { name: "In service" }).getByRole("button", { name: "Drain" }).click();
    await page.getByText("It gets no new requests. Requests under way and accepted").waitFor();
    await checkShown(stage, "form-provider-drain");
    await page.getByLabel("Reason (optional)").fill("maintenance of the vendor");
    await page.locator(".service form").getByRole("button", { name: "Drain" }).click();
    await page.getByText("maintenance of the vendor").waitFor();
    await page.getByText("draining").waitFor();
    await checkPage(stage, "providers/sandbox-google", "providers-drained");
    await open("overview");
    await page.getByText("draining").waitFor();
    await open("providers/sandbox-google");
    await page.getByRole("button", { name: "Use the state of the configuration" }).click();
    await page.getByText("maintenance of the vendor").waitFor({ state: "detached" });
    await page.getByText("draining").waitFor({ state: "detached" });
  },
);

stageTest("an empty gateway shows its steps to a first request, with links to the forms", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await page.getByText("Set up the gateway").waitFor();
  await checkPage(stage, "overview", "overview-empty");
  await page.getByRole("link", { name: "Add a provider" }).click();
  await page.getByLabel("Vendor").selectOption("openai");
  await page.getByLabel("Key", { exact: true }).fill("sandbox-key-openai");
  await page.getByLabel("Address (optional)").fill(gateway.sandbox.baseUrls.openai);
  await apply(stage);
  await page.getByText("This provider serves no model yet").waitFor();
  await open("accounts");
  await page.fill("input[name=id]", "shop");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await open("overview");
  await page.getByRole("link", { name: "Create a key" }).click();
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.getByText("may spend the whole balance").waitFor();
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.locator(".secret").waitFor();
  await open("overview");
  await page.getByRole("link", { name: "Open the playground" }).waitFor();
  assertEquals(await page.locator(".setup .done").count(), 3);
}, { config: { providers: {}, models: [], accounts: [], aliases: {} } });

endBrowser();
