import { parse } from "yaml";
import { filesOf, ROOT } from "../architecture/source_files.ts";

/** A query of Prometheus in a file of `ops`. */
export interface OpsQuery {
  /** The file and the panel, variable or alert. */
  readonly place: string;
  /** In PromQL, without variables of Grafana. */
  readonly expression: string;
}

/** The members that are read of a dashboard. */
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

/** Every query of the panels and variables of the dashboards. */
export async function dashboardQueries(): Promise<OpsQuery[]> {
  const queries: OpsQuery[] = [];
  for (const path of await filesOf("ops/grafana", ".json")) {
    const { panels, templating }: Dashboard = JSON.parse(await Deno.readTextFile(ROOT + path));
    for (const { title, targets } of panels) {
      for (const { expr } of targets) queries.push({ place: `${path}: ${title}`, expression: withoutVariables(expr) });
    }
    for (const { name, definition } of templating.list.filter(({ type }) => type === "query")) {
      const selector = /^label_values\((.+), (\w+)\)$/.exec(definition ?? "");
      if (selector === null) throw new Error(`${path}: the variable ${name} is not "label_values(selector, label)"`);
      queries.push({
        place: `${path}: $${name}`,
        expression: withoutVariables(`group by (${selector[2]}) (${selector[1]})`),
      });
    }
  }
  return queries;
}

/** Every condition of the alerts. */
export async function alertQueries(): Promise<OpsQuery[]> {
  const path = "ops/prometheus/alerts.yaml";
  const { groups }: RuleFile = parse(await Deno.readTextFile(ROOT + path));
  return groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr }) => ({ place: `${path}: ${alert}`, expression: expr }))
  );
}

/** The names of the metrics in a query, without those of Prometheus itself. */
export function metricsIn(expression: string): string[] {
  return expression.match(/\b(?:switchyard|process)_\w+/g) ?? [];
}

/** Replaces the variables as Grafana does if everything is selected. */
function withoutVariables(expression: string): string {
  const replaced = expression.replaceAll("$__rate_interval", "20s").replace(/"\$\w+"/g, '".*"');
  if (replaced.includes("$")) throw new Error(`An unknown variable is left in: ${replaced}`);
  return replaced;
}
