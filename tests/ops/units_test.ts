import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { RUN_ENVIRONMENT } from "../../scripts/run_flags.ts";
import { overridePaths } from "../../src/config/overrides.ts";
import { ROOT } from "../architecture/source_files.ts";
import { configOf } from "../config/support.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { present } from "../support/items.ts";

const UNIT = "ops/systemd/switchyard.service";
const DROP_IN = "ops/systemd/npm.conf";
const analyzes = await isInstalled("systemd-analyze");

async function isInstalled(program: string): Promise<boolean> {
  return await new Deno.Command(program, { args: ["--version"], stdout: "null", stderr: "null" }).output()
    .then(({ success }) => success, () => false);
}

const read = (file: string) => Deno.readTextFile(join(ROOT, file));

/** The last value of a setting of a unit. */
function settingIn(unit: string, name: string): string {
  return present([...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].at(-1)?.[1], name);
}

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("systemd: the commands of the unit and of the drop-in are the gateway's, and start it", async () => {
  const [executable, ...words] = settingIn(await read(UNIT), "ExecStart").split(" ");
  const [packaged, ...others] = settingIn(await read(DROP_IN), "ExecStart").split(" ");
  assertEquals(others, words);
  assertMatch(`${executable} ${packaged}`, /^\/\S+\/switchyard \/\S+\/switchyard$/);
  await withFolder(async (folder) => {
    const config = join(folder, "switchyard.yaml");
    await Deno.writeTextFile(config, "server: { port: 0 }\nproviders: {}\nmodels: []\n");
    assert(words.includes("/etc/switchyard/switchyard.yaml"));
    const args = words.map((word) => word === "/etc/switchyard/switchyard.yaml" ? config : word);
    const gateway = startGatewayProcess({ args, folder });
    await gateway.until(/is ready at/);
    gateway.kill("SIGTERM");
    assertEquals((await gateway.ended).code, 0, gateway.log());
  });
});

Deno.test("systemd: the executable gets the environment that it cannot contain", async () => {
  const unit = await read(UNIT);
  for (const [name, value] of Object.entries(RUN_ENVIRONMENT)) {
    assertStringIncludes(unit, `\nEnvironment=${name}=${value}\n`);
  }
});

Deno.test("systemd: a stop takes longer than open streams may, and the guide installs what the unit names", async () => {
  const unit = await read(UNIT);
  const { shutdownGraceMs } = configOf("").server;
  assert(Number(settingIn(unit, "TimeoutStopSec")) * 1_000 > shutdownGraceMs);
  const guide = await read("docs/installing.md");
  const [executable = ""] = settingIn(unit, "ExecStart").split(" ");
  const environment = settingIn(unit, "EnvironmentFile").replace(/^-/, "");
  for (const path of [executable, "/etc/switchyard/switchyard.yaml", environment, UNIT, DROP_IN]) {
    assertStringIncludes(guide, path);
  }
});

/** What `systemd-analyze verify` says about the unit, with programs that exist in place of the gateway. */
async function verify(folder: string, programs: { readonly unit: string; readonly dropIn?: string }) {
  const withProgram = (text: string, program: string) => text.replace(/^(ExecStart=)\/\S+/m, `$1${program}`);
  const unit = join(folder, "switchyard.service");
  await Deno.writeTextFile(unit, withProgram(await read(UNIT), programs.unit));
  if (programs.dropIn !== undefined) {
    await Deno.mkdir(`${unit}.d`, { recursive: true });
    await Deno.writeTextFile(join(`${unit}.d`, "npm.conf"), withProgram(await read(DROP_IN), programs.dropIn));
  }
  const { code, stderr } = await new Deno.Command("systemd-analyze", { args: ["verify", "--man=no", unit] }).output();
  return { code, said: new TextDecoder().decode(stderr).trim() };
}

Deno.test({
  name: `systemd: the unit and the drop-in are valid${analyzes ? "" : " (needs systemd-analyze)"}`,
  ignore: !analyzes,
  fn: async () => {
    await withFolder(async (folder) => {
      const program = Deno.execPath();
      assertEquals(await verify(folder, { unit: program }), { code: 0, said: "" });
      assertEquals(await verify(folder, { unit: "/none/unit", dropIn: program }), { code: 0, said: "" });
      const { said } = await verify(folder, { unit: program, dropIn: "/none/drop-in" });
      assertStringIncludes(said, "/none/drop-in");
    });
  },
});

Deno.test("systemd: no line of the unit is misspelt, also where systemd-analyze is not installed", async () => {
  for (const file of [UNIT, DROP_IN]) {
    for (const line of (await read(file)).split("\n")) {
      assertMatch(line, /^(?:|#.*|\[[A-Z][a-z]+\]|[A-Z][A-Za-z]+=.*)$/);
    }
  }
});

/** A service of a Compose file, as far as it is checked. */
interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: unknown;
  readonly depends_on?: readonly string[] | Readonly<Record<string, { readonly condition: string }>>;
  readonly [field: string]: unknown;
}

async function composeFile(name: string) {
  const { parse } = await import("yaml");
  const text = await read(`ops/container/${name}`);
  const { services, volumes } = parse(text, { merge: true });
  return { text, services: services as Record<string, Service>, volumes: Object.keys(volumes) };
}

const isGateway = ({ build }: Service) => build?.dockerfile === "ops/container/Dockerfile";

for (const file of ["compose.yaml", "compose.nodes.yaml"]) {
  Deno.test(`${file}: services depend on services that exist and report what is waited for`, async () => {
    const { services } = await composeFile(file);
    for (const [name, { depends_on = {} }] of Object.entries(services)) {
      const conditions = Array.isArray(depends_on)
        ? depends_on.map((each) => [each, "service_started"] as const)
        : Object.entries(depends_on).map(([each, { condition }]) => [each, condition] as const);
      for (const [needed, condition] of conditions) {
        const service = present(services[needed], `${name} needs ${needed}`);
        if (condition === "service_healthy") assert(service.healthcheck !== undefined, `${needed} has no health check`);
        if (condition === "service_completed_successfully") assertEquals(service.restart, undefined, needed);
      }
    }
  });

  Deno.test(`${file}: volumes are declared and used, and a gateway can write to its volume alone`, async () => {
    const { services, volumes } = await composeFile(file);
    const mounted = Object.values(services).flatMap((service) => service.volumes ?? []);
    const [files, used] = [mounted.filter((each) => each.startsWith(".")), mounted.filter((each) => /^\w/.test(each))];
    assertEquals(used.map((each) => each.split(":")[0]).toSorted(), volumes.toSorted());
    for (const each of files) {
      assertMatch(each, /:ro$/);
      assert((await Deno.stat(join(ROOT, "ops/container", each.split(":")[0] ?? ""))).isFile, each);
    }
    for (const service of Object.values(services).filter(isGateway)) {
      assertEquals([service.read_only, service.cap_drop, service.tmpfs], [true, ["ALL"], ["/tmp"]]);
      assertMatch(service.volumes?.[0] ?? "", /^[a-z0-9-]+:\/data$/);
    }
  });

  Deno.test(`${file}: the image is built from this repository, has a health check, and listens where callers come`, async () => {
    const { services } = await composeFile(file);
    const gateways = Object.values(services).filter(isGateway);
    assert(gateways.length > 0);
    for (const { build } of gateways) {
      const context = join(ROOT, "ops/container", build?.context ?? "");
      const dockerfile = await Deno.readTextFile(join(context, build?.dockerfile ?? ""));
      assertMatch(dockerfile, /^HEALTHCHECK .*check_ready\.js"\]$/m);
      assertMatch(dockerfile, /^ENV .*PORT=8787.*\nEXPOSE 8787$/m);
    }
    const published = Object.values(services).flatMap(({ ports = [] }) => ports);
    assertEquals(published, ["127.0.0.1:8787:8787"]);
  });

  Deno.test(`${file}: every variable exists in the configuration, and every secret is one that the file asks for`, async () => {
    const { text, services } = await composeFile(file);
    const asked = new Set([...present(/printf '(.*)' > \.env/.exec(text)?.[1], "the secrets").matchAll(/([A-Z_]+)=/g)]
      .map(([, name = ""]) => name));
    const used = [...text.matchAll(/\$\{([A-Z_]+)(:-[^}]*)?\}/g)].filter(([, , otherwise]) => otherwise === undefined);
    for (const [, name = ""] of used) assert(asked.has(name), name);
    for (const service of Object.values(services).filter(isGateway)) {
      const written = Object.entries(service.environment ?? {});
      const values = Object.fromEntries(
        written.map(([name, value]) => [name, value.replace(/\$\{[A-Z_]+\}/g, "secret-1")]),
      );
      const known = new Set(overridePaths((name) => values[name]).values());
      const own = Object.keys(values).filter((name) => !name.startsWith("AWS_"));
      assertEquals(own.filter((name) => !known.has(name)), []);
      const config = configOf("", { ...values, OPENAI_API_KEY: "k", SWITCHYARD_ADMIN_KEY: "0123456789abcdef" });
      assertEquals(config.bucket === null, values.SWITCHYARD_FILES === undefined);
      assertEquals(config.store.startsWith("postgres:"), values.SWITCHYARD_STORE !== undefined);
      const grace = Number.parseInt(String(service.stop_grace_period));
      assert(grace * 1_000 > config.server.shutdownGraceMs, `${grace} s`);
    }
  });
}
