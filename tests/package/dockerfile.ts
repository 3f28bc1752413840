import { ROOT } from "../architecture/source_files.ts";

/** What the container's image runs. */
export interface Image {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The user and group. */
  readonly user: string;
  readonly folder: string;
}

/** Reads the last stage of `ops/container/Dockerfile`. */
export async function readDockerfile(): Promise<Image> {
  const text = await Deno.readTextFile(`${ROOT}ops/container/Dockerfile`);
  const last = text.slice(text.lastIndexOf("\nFROM "));
  const valueOf = (name: string) => {
    const value = new RegExp(`^${name} (.*)$`, "m").exec(last)?.[1];
    if (value === undefined) throw new Error(`The Dockerfile has no ${name}`);
    return value;
  };
  return {
    entrypoint: JSON.parse(valueOf("ENTRYPOINT")),
    command: JSON.parse(valueOf("CMD")),
    healthCheck: JSON.parse(valueOf("HEALTHCHECK").replace(/^.*? CMD /, "")),
    env: Object.fromEntries(valueOf("ENV").split(" ").map((pair) => pair.split("="))),
    user: valueOf("USER"),
    folder: valueOf("WORKDIR"),
  };
}
