import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway_process.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { closedOrigin } from "../support/video_gateway.ts";
import { until } from "../support/manual_clock.ts";

/** `dev` in a folder of its own, as somebody who tries it for the first time has it. */
class FirstTry {
  private constructor(readonly folder: string, readonly address: string, readonly dev: GatewayProcess) {}

  static async with(run: (dev: FirstTry) => Promise<void>): Promise<void> {
    const folder = await Deno.makeTempDir();
    const port = new URL(closedOrigin()).port;
    const dev = startGatewayProcess({ args: ["dev"], folder, env: { PORT: port } });
    try {
      const [, address] = atLeast(await dev.until(/ready at (http:\S+)/), 2);
      await dev.until(/webhooks listen/);
      await run(new FirstTry(folder, address, dev));
    } finally {
      dev.kill("SIGTERM");
      await dev.ended;
      await Deno.remove(folder, { recursive: true });
    }
  }

  start(...args: string[]): GatewayProcess {
    return startGatewayProcess({ args, folder: this.folder });
  }

  async run(...args: string[]) {
    const process = this.start(...args);
    const { code } = await process.ended;
    return { code, said: process.output(), complaint: process.log().trim() };
  }

  async create(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const key = (await Deno.readTextFile(`${this.folder}/data/dev-key`)).trim();
    const response = await fetch(`${this.address}/v1/videos`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox/video-1", prompt: "A lighthouse [[queue 0]] [[run 0]]", ...fields }),
    });
    assertEquals(response.status, 202);
    return (await response.json()).id;
  }
}

/** An application under development. */
function startApplication() {
  const received: { readonly path: string; readonly headers: Headers; readonly body: string }[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    received.push({ path: pathname + search, headers: request.headers, body: await request.text() });
    return new Response(null, { status: pathname === "/broken" ? 500 : 204 });
  });
  return { received, port: server.addr.port, stop: () => server.shutdown() };
}

Deno.test("webhooks listen shows and forwards events of dev without options, a secret or a callback address", async () => {
  const application = startApplication();
  await FirstTry.with(async (dev) => {
    const listening = dev.start("webhooks", "listen", "--forward", `localhost:${application.port}/hook?a=1`);
    await listening.until(/Listening for webhooks of http:\S+/);
    const id = await dev.create();
    await listening.until(/forwarded to http:\/\/localhost:\d+\/hook\?a=1: 204/);
    const said = listening.output();
    for (const part of [`completed of demo, without a callback_url`, "both signatures are valid", id]) {
      assertStringIncludes(said, part);
    }
    const { path, headers, body } = itemAt(application.received, 0);
    assertEquals([path, JSON.parse(body).id], ["/hook?a=1", id]);
    assertEquals(headers.get("content-type"), "application/json");
    assertEquals(headers.get("user-agent"), "Switchyard-Webhooks");
    assertStringIncludes(said, headers.get("webhook-signature")!);

    const triggered = await dev.run("webhooks", "trigger", "video.generation.failed");
    assertEquals([triggered.code, triggered.complaint], [0, ""], triggered.said);
    await until(() => application.received.length === 2);
    const test = JSON.parse(itemAt(application.received, 1).body);
    assertEquals([test.event, test.data.metadata], ["video.generation.failed", { test: "true" }]);
    listening.kill("SIGTERM");
    assertEquals((await listening.ended).code, 0);
  });
  await application.stop();
});

Deno.test("webhooks trigger posts a signed test event to --url and fails when it is not acknowledged", async () => {
  const application = startApplication();
  await FirstTry.with(async (dev) => {
    const good = await dev.run(
      "webhooks",
      "trigger",
      "completed",
      "--url",
      `http://127.0.0.1:${application.port}/hook`,
    );
    assertEquals([good.code, good.complaint], [0, ""]);
    assertStringIncludes(good.said, "video.generation.completed of demo");
    const { headers } = itemAt(application.received, 0);
    assert(headers.get("webhook-signature")?.startsWith("v1,"));
    assert(headers.get("x-service-idempotency-key")?.endsWith("-completed"));
    const bad = await dev.run(
      "webhooks",
      "trigger",
      "completed",
      "--url",
      `http://127.0.0.1:${application.port}/broken`,
    );
    assertEquals([bad.code, /: 500$/m.test(bad.said)], [1, true], bad.said);
    const closed = await dev.run("webhooks", "trigger", "completed", "--url", closedOrigin());
    assertEquals([closed.code, closed.said.includes("not forwarded")], [1, true], closed.said);

    const unheard = await dev.run("webhooks", "trigger", "completed");
    assertEquals(unheard.code, 1);
    assertStringIncludes(unheard.said, "no listener is connected");
    const unknown = await dev.run("webhooks", "trigger", "video.generation.started");
    assertEquals(unknown.code, 1);
    assertStringIncludes(unknown.said, "video.generation.completed, video.generation.failed");
    await dev.run("accounts", "create", "other");
    const several = await dev.run("webhooks", "trigger", "completed");
    assertEquals(several.code, 2);
    assertStringIncludes(several.complaint, "--account ID is required");
  });
  await application.stop();
});

Deno.test("webhooks with an invalid subcommand or address prints what is expected", async () => {
  const folder = await Deno.makeTempDir();
  for (
    const [line, expected] of [
      ["webhooks", "missing subcommand: expected one of listen, trigger"],
      ["webhooks play", 'unknown subcommand "play": expected one of listen, trigger'],
      ["webhooks trigger", "expected one event"],
      ["webhooks listen --forward ftp://127.0.0.1/", "--forward must be an http or https address"],
    ] as const
  ) {
    const process = startGatewayProcess({
      args: line.split(" "),
      folder,
      env: { SWITCHYARD_ADMIN_KEY: "an-admin-key-of-tests", PORT: new URL(closedOrigin()).port },
    });
    assertEquals((await process.ended).code, 2, line);
    assertStringIncludes(process.log(), expected);
  }
  await Deno.remove(folder, { recursive: true });
});
