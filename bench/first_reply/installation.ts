/** A way to get a gateway from where it is published to its first reply. */
export interface Installation {
  /** The name in the report. */
  readonly label: string;
  /** The commands that a user types, in words for the report. */
  readonly commands: string;
  /** What answers behind the gateway, in a few words. */
  readonly vendor: string;
  /** Programs without which it cannot be measured. */
  readonly needs: readonly string[];
  /** Prepares what is not the user's work, such as a file that a registry would serve; it is not timed. */
  prepare?(place: Place): Promise<void>;
  /** The commands before the start, in order; each runs in the folder. */
  install(place: Place): readonly (readonly string[])[];
  /** The command that starts the gateway, and stays; it may install more when it runs for the first time. */
  start(place: Place): readonly string[];
  /** Where the command that starts it runs, below the folder. */
  readonly startsIn?: string;
  /** The first request. `printed` is what the gateway has printed so far; null until it says what the request needs. */
  request(place: Place, printed: string): FirstRequest | null;
}

/** Where an installation is measured: nothing from before is there. */
export interface Place {
  /** An empty folder, with the caches of all package managers below it. */
  readonly folder: string;
  /** The port that the gateway is told to listen on. */
  readonly port: number;
  /** A vendor that answers at once, in the chat format. */
  readonly upstreamPort: number;
}

/** A request in the chat format. */
export interface FirstRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

/** Environment variables that keep the caches of Deno, npm and pip in the folder, so that all are empty. */
export function ownCaches({ folder, port }: Place): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    PORT: String(port),
    NO_COLOR: "1",
    DENO_DIR: `${folder}/caches/deno`,
    npm_config_cache: `${folder}/caches/npm`,
    PIP_CACHE_DIR: `${folder}/caches/pip`,
    XDG_CACHE_HOME: `${folder}/caches/other`,
    HOME: `${folder}/home`,
  };
}
