import { join } from "node:path";
import { TEST_CERTIFICATE, TEST_KEY } from "../support/test_certificates.ts";
import { ROOT } from "../architecture/source_files.ts";
import { run, succeeds, unpackPackages } from "./debian_packages.ts";

/** A proxy of `ops/proxies`. */
export interface ProxyKind {
  readonly name: string;
  /** Writes a sample of `ops/proxies` for this machine, and returns the arguments of the program. */
  configure(sample: ProxyPlace): Promise<readonly string[]>;
  /** The sample's file. */
  readonly sample: string;
}

interface ProxyPlace {
  readonly folder: string;
  readonly text: string;
  readonly port: number;
}

/** A proxy in front of a gateway, at a port of loopback with TLS. */
export interface RunningProxy {
  readonly port: number;
  stop(): Promise<void>;
}

const HOST = "receiver.example"; // the name in the certificate

export const PROXIES: readonly ProxyKind[] = [
  {
    name: "nginx",
    sample: "nginx.conf",
    async configure({ folder, text, port }) {
      const server = replaced(text, {
        "listen 443 ssl http2;": `listen 127.0.0.1:${port} ssl http2;`,
        "server_name gateway.example.com;": `server_name ${HOST};`,
        "/etc/ssl/gateway.pem": join(folder, "cert.pem"),
        "/etc/ssl/gateway.key": join(folder, "key.pem"),
        "client_header_timeout 10s;": "client_header_timeout 1s;",
      });
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((name) => `${name}_temp_path ${join(folder, name)};`).join("\n");
      const path = join(folder, "nginx.conf");
      const user = Deno.uid() === 0 ? "user root;" : "";
      await Deno.writeTextFile(
        path,
        `${user} daemon off; pid ${join(folder, "pid")}; error_log stderr; events {}
http { access_log off; ${temporary}
${server} }`,
      );
      return ["-e", "stderr", "-p", folder, "-c", path];
    },
  },
  {
    name: "caddy",
    sample: "Caddyfile",
    async configure({ folder, text, port }) {
      const path = join(folder, "Caddyfile");
      const file = replaced(text, {
        "{\n\tservers {": "{\n\tadmin off\n\tauto_https disable_redirects\n\tservers {",
        "gateway.example.com {": `https://${HOST}:${port} {
	tls ${join(folder, "cert.pem")} ${join(folder, "key.pem")}`,
        "read_header 10s": "read_header 1s",
      });
      await Deno.writeTextFile(path, file);
      return ["run", "--config", path, "--adapter", "caddyfile"];
    },
  },
];

/** The balancer of `ops/container/compose.nodes.yaml`, without TLS, in front of these gateways. */
export function balancerOf(gateways: readonly [string, string]): ProxyKind {
  return {
    name: "caddy",
    sample: "Caddyfile.nodes",
    async configure({ folder, text, port }) {
      const path = join(folder, "Caddyfile");
      const file = replaced(text, {
        "{\n\tservers {": "{\n\tadmin off\n\tservers {",
        ":8787 {": `http://127.0.0.1:${port} {`,
        "gateway-1:8787 gateway-2:8787": gateways.join(" "),
      });
      await Deno.writeTextFile(path, file);
      return ["run", "--config", path, "--adapter", "caddyfile"];
    },
  };
}

/**
 * Returns the path of a proxy's program. Debian's package is unpacked if it is not installed.
 *
 * @param folder An empty folder.
 */
export async function proxyProgram(name: string, folder: string): Promise<string> {
  for (const path of [name, `/usr/sbin/${name}`]) {
    if (await succeeds(path, name === "nginx" ? "-v" : "version")) return path;
  }
  await unpackPackages([name], folder);
  for (const path of [join(folder, "usr/sbin", name), join(folder, "usr/bin", name)]) {
    if (await succeeds(path, name === "nginx" ? "-v" : "version")) return path;
  }
  throw new Error(`Debian's package ${name} has no program that runs here: ${await run("ls", ["-R", "usr"], folder)}`);
}

const TRIES = 5;

/** Starts a proxy with its sample of `ops/proxies`, in front of the gateway at `upstream`, or of those of the kind. */
export async function startProxy(
  kind: ProxyKind,
  program: string,
  { folder, upstream }: { readonly folder: string; readonly upstream: string | null },
): Promise<RunningProxy> {
  await Deno.writeTextFile(join(folder, "cert.pem"), TEST_CERTIFICATE);
  await Deno.writeTextFile(join(folder, "key.pem"), TEST_KEY);
  const sample = await Deno.readTextFile(`${ROOT}ops/proxies/${kind.sample}`);
  const text = upstream === null ? sample : replaced(sample, { "127.0.0.1:8787": upstream });
  let printed = "";
  for (let tries = 0; tries < TRIES; tries++) {
    const port = freePort(); // Another process can take it before the proxy does.
    const args = await kind.configure({ folder, text, port });
    const child = new Deno.Command(program, {
      args: [...args],
      env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const output = new Response(child.stderr).text();
    const ended = child.status.then(() => false);
    if (await Promise.race([ended, accepts(port, ended)])) {
      return {
        port,
        async stop() {
          child.kill("SIGTERM");
          await child.status;
          await output;
        },
      };
    }
    printed = await output;
  }
  throw new Error(`${kind.name} does not start: ${printed}`);
}

/** Resolves when a port accepts connections; never if the program has ended. */
async function accepts(port: number, ended: Promise<boolean>): Promise<boolean> {
  let isOver = false;
  ended.then(() => isOver = true);
  while (!isOver) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return false;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function replaced(text: string, pairs: Readonly<Record<string, string>>): string {
  let result = text;
  for (const [from, to] of Object.entries(pairs)) {
    if (!result.includes(from)) throw new Error(`The sample does not contain: ${from}`);
    result = result.replace(from, to);
  }
  return result;
}
