import type { Route } from "../../src/platform/http/request/inbound.ts";
import type { ApiDescription } from "../../src/protocols/documentation/api_description.ts";

/** A route of the gateway as the description has it. */
export interface DescribedRoute {
  readonly method: Route["method"];
  /** As in the table of routes: `/v1/models/:model*`. */
  readonly path: string;
  /** The place of the operation in the document. */
  readonly pointer: string;
}

/** Parameters that can contain slashes, by the start of their path. */
const LONG = [/^\/[^{]*\/models\/\{model\}/, /^\/docs\/\{path\}/, /^\/admin\/v1\/config\/\{section\}\/\{name\}/];

/** The routes of all operations, with the other paths of the content protocol, which are described in words. */
export function routesOf({ paths }: ApiDescription): DescribedRoute[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).flatMap((name) => {
      const pointer = `/paths/${path.replaceAll("~", "~0").replaceAll("/", "~1")}/${name}`;
      const method = name.toUpperCase() as Route["method"];
      return variantsOf(routePathOf(path)).map((each) => ({ method, path: each, pointer }));
    })
  );
}

/** `/v1/models/{model}` as `/v1/models/:model*`. */
function routePathOf(path: string): string {
  const isLong = LONG.some((each) => each.test(path));
  const last = path.lastIndexOf("{");
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string, at: number) => `:${name}${isLong && at === last ? "*" : ""}`);
}

function variantsOf(path: string): string[] {
  if (!/^\/gencompat\/(?:upload\/)?v1beta\//.test(path)) return [path];
  const others = [
    ...(/:\w+\*:/.test(path) ? [path.replace("/models/", "/")] : []),
    ...(path.endsWith(":download") ? [path.replace("/v1beta/", "/download/v1beta/")] : []),
  ];
  return [path, ...others].flatMap((each) => [each, each.replace("/v1beta/", "/v1/")]);
}
