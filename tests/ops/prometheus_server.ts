/** A running Prometheus. */
export interface PrometheusServer {
  /**
   * Evaluates a query now.
   *
   * @returns The values of the series in the result, except those that are not a number.
   * @throws {Error} With the reason if the query is not valid.
   */
  values(expression: string): Promise<number[]>;
  stop(): Promise<void>;
}

/** The HTTP API's response to a query whose result is a vector. */
type Answer =
  | { readonly status: "success"; readonly data: { readonly result: readonly { readonly value: [number, string] }[] } }
  | { readonly status: "error"; readonly error: string };

/** Starts Prometheus on a free port of loopback with a configuration. Its data is below the folder. */
export async function startPrometheus(program: string, configFile: string, folder: string): Promise<PrometheusServer> {
  const port = freePort();
  const child = new Deno.Command(program, {
    args: [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  let hasEnded = false;
  const ended = child.status.then(() => void (hasEnded = true));
  const address = `http://127.0.0.1:${port}`;
  while (!await isReady(address)) {
    if (hasEnded) throw new Error("Prometheus ended at its start");
  }
  return {
    async values(expression) {
      const response = await fetch(`${address}/api/v1/query`, {
        method: "POST",
        body: new URLSearchParams({ query: expression }),
      });
      const answer: Answer = await response.json();
      if (answer.status !== "success") throw new Error(answer.error);
      return answer.data.result.map(({ value }) => Number(value[1])).filter((value) => !Number.isNaN(value));
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function isReady(address: string): Promise<boolean> {
  try {
    const response = await fetch(`${address}/-/ready`);
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
