import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { ROOT } from "../architecture/source_files.ts";
import { startDevGateway } from "../openapi/dev_gateway.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { textModel } from "../support/gateway.ts";
import { present } from "../support/items.ts";
import { LOCK_OF_TESTS, packageOfTests } from "../support/packages.ts";
import { readCodeBlocks } from "./samples/code_blocks.ts";
import { compareTexts } from "./samples/expected_output.ts";
import { type Shell, SWITCHYARD, withShell } from "./samples/shell.ts";
import { untilSo } from "../support/patience.ts";

const blocks = await readCodeBlocks();

/** The block of a page that contains a text. */
function blockOf(page: string, holds: string): string {
  return present(blocks.find((block) => block.page === page && block.text.includes(holds)), holds).text;
}

const modeOf = async (path: string) => ((await Deno.stat(path)).mode ?? 0) & 0o777;
const INSTALLING = "docs/installing.md";

Deno.test("docs/installing.md: the completions are written where the shells read them", async () => {
  await withShell({ switchyard: SWITCHYARD }, async ({ home, run }) => {
    const folders = 'mkdir -p ~/.config/fish/completions ~/functions\nfpath=(/usr/share/zsh "$HOME/functions")\n';
    await run(folders + blockOf(INSTALLING, "bash-completion"));
    const bash = join(home, ".local/share/bash-completion/completions/switchyard");
    assertStringIncludes(await run(`source '${bash}'; complete -p switchyard`), "switchyard");
    assertMatch(await Deno.readTextFile(join(home, "functions/_switchyard")), /^#compdef switchyard/);
    const fish = await Deno.readTextFile(join(home, ".config/fish/completions/switchyard.fish"));
    assertStringIncludes(fish, "complete -c switchyard");
  });
});

/** Runs `install` below a folder, and notes the commands for systemd and npm. */
const SUDO = `
case "$1" in
  install)
    shift
    args=()
    for each in "$@"; do case "$each" in /*) args+=("$ROOT$each") ;; *) args+=("$each") ;; esac; done
    exec install "\${args[@]}"
    ;;
  *) echo "$*" >> "$ROOT/noted" ;;
esac`;

Deno.test({
  name: "docs/installing.md: the service and its drop-in are installed where systemd reads them",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await withShell({ sudo: SUDO }, async ({ home, run }) => {
      await Deno.mkdir(join(home, "dist"));
      for (const name of ["dist/switchyard", "switchyard.yaml", ".env"]) {
        await Deno.writeTextFile(join(home, name), "content");
      }
      await Deno.symlink(join(ROOT, "ops"), join(home, "ops"));
      const root = join(home, "root");
      for (const folder of ["usr/local/bin", "etc/systemd/system"]) {
        await Deno.mkdir(join(root, folder), { recursive: true });
      }
      for (const holds of ["/usr/local/bin/switchyard", "switchyard.service.d"]) {
        await run(blockOf(INSTALLING, holds), { env: { ROOT: root } });
      }
      assertEquals(await modeOf(join(root, "usr/local/bin/switchyard")), 0o755);
      assertEquals(await modeOf(join(root, "etc/switchyard/switchyard.yaml")), 0o644);
      assertEquals(await modeOf(join(root, "etc/switchyard/env")), 0o600);
      const units = join(root, "etc/systemd/system");
      const unit = await Deno.readTextFile(join(units, "switchyard.service"));
      const program = present(/^ExecStart=(\S+)/m.exec(unit)?.[1], "ExecStart");
      await Deno.stat(join(root, program));
      assertMatch(await Deno.readTextFile(join(units, "switchyard.service.d/npm.conf")), /^\[Service\]$/m);
      assertEquals((await Deno.readTextFile(join(root, "noted"))).trim().split("\n"), [
        "systemctl daemon-reload",
        "systemctl enable --now switchyard",
        "npm install --global ./dist/switchyard-gateway-0.1.0.tgz",
        "systemctl daemon-reload",
        "systemctl restart switchyard",
      ]);
    });
  },
});

/** Notes the arguments of each call, one a line, and an empty line after each call. */
const DOCKER = `printf '%s\\n' "$@" "" >> "$NOTED"`;

/** The values of an option among arguments. */
function optionsOf(args: readonly string[], name: string): string[] {
  return args.flatMap((each, at) => each === name ? [args[at + 1] ?? ""] : []);
}

Deno.test("docs/installing.md: the commands for Docker fit the Dockerfile", async () => {
  await withShell({ docker: DOCKER }, async ({ home, run }: Shell) => {
    const noted = join(home, "noted");
    await run(blockOf(INSTALLING, "docker build"), { cwd: ROOT, env: { NOTED: noted } });
    const [build = [], started = []] = (await Deno.readTextFile(noted)).trim().split("\n\n").map((call) =>
      call.split("\n")
    );
    assertEquals([build[0], build.at(-1)], ["build", "."]);
    const dockerfile = await Deno.readTextFile(join(ROOT, present(optionsOf(build, "--file")[0], "--file")));
    const [argument] = optionsOf(build, "--build-arg");
    assertMatch(argument ?? "", /^COMMIT=(?:[0-9a-f]{12})?$/);
    assertMatch(dockerfile, /^ARG COMMIT/m);
    assertEquals(started.at(-1), optionsOf(build, "--tag")[0]);
    const [port] = optionsOf(started, "--publish");
    assertEquals(port?.split(":").at(-1), /^EXPOSE (\d+)$/m.exec(dockerfile)?.[1]);
    const [volume = ""] = optionsOf(started, "--volume");
    assertStringIncludes(dockerfile, `VOLUME ["${volume.split(":")[1]}"]`);
    assert(started.includes("--read-only") && started.includes("--detach"), started.join(" "));
  });
});

Deno.test("docs/api/README.md: the client is generated from the document of a gateway", async () => {
  // The program that npx would load, of the version that the lock file names and the test command has installed.
  const npx = `[ "$1" = openapi-typescript ] && shift && exec '${Deno.execPath()}' run --quiet --allow-all ` +
    `--cached-only --config='${ROOT}deno.json' --lock='${LOCK_OF_TESTS}' ${packageOfTests("openapi-typescript")} "$@"`;
  const gateway = await startDevGateway();
  try {
    await withShell({ npx }, async ({ home, run }) => {
      const command = blockOf("docs/api/README.md", "openapi-typescript");
      await run(command.replace("http://127.0.0.1:8787", gateway.address));
      const types = await Deno.readTextFile(join(home, "switchyard.ts"));
      assertStringIncludes(types, '"/v1/chat/completions"');
    });
  } finally {
    await gateway.stop();
  }
});

Deno.test("docs/operating/money.md: a signal that changes a price leaves the line in the log that the page shows", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const write = (completion: string) => {
    const provider = { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "vendor-key" };
    const model = { ...textModel("openai/gpt-5.4", ["openai"]), pricing: { prompt: "0.000001", completion } };
    return Deno.writeTextFile(
      join(folder, "switchyard.yaml"),
      JSON.stringify({ server: { port: 0 }, providers: { openai: provider }, models: [model] }),
    );
  };
  await write("0.000012");
  const gateway = startGatewayProcess({ args: ["serve"], folder });
  try {
    await gateway.until(/ready at/);
    await write("0.000015");
    gateway.kill("SIGHUP");
    const isLogged = () => gateway.log().split("\n").find((line) => line.includes('"config_changed"'));
    await untilSo(() => isLogged() !== undefined);
    const shown = blockOf("docs/operating/money.md", '"event":"config_changed"');
    assertEquals(compareTexts(shown, present(isLogged(), "the line")).problem, null);
  } finally {
    gateway.kill("SIGTERM");
    await gateway.ended;
    await Deno.remove(folder, { recursive: true });
  }
});
