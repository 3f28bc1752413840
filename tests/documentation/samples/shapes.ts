/** Fields whose own fields are data, and differ between answers. */
const MAPS: ReadonlySet<string> = new Set(
  [
    "added",
    "after",
    "before",
    "changed",
    "errors",
    "headers",
    "jobs",
    "metadata",
    "pricing",
    "rates",
    "removed",
    "left",
  ],
);

/**
 * The differences between the shape of a sample and that of an answer: names of fields, and types of values. Null has
 * any type. The fields of {@linkcode MAPS} are not compared. A field `…` in a sample stands for further fields, and a
 * text `…` for any value. Of lists, the first elements are compared.
 */
export function shapeProblems(sample: unknown, answer: unknown, path = "answer"): string[] {
  if (sample === null || answer === null || sample === "…") return [];
  if (MAPS.has(path.slice(path.lastIndexOf(".") + 1))) {
    return typeof sample === typeof answer ? [] : [`${path}: another type`];
  }
  if (Array.isArray(sample) || Array.isArray(answer)) {
    if (!Array.isArray(sample) || !Array.isArray(answer)) return [`${path}: only one of them is a list`];
    return sample.length === 0 || answer.length === 0 ? [] : shapeProblems(sample[0], answer[0], `${path}[0]`);
  }
  if (typeof sample !== typeof answer) return [`${path}: the sample has a ${typeof sample}, not a ${typeof answer}`];
  if (typeof sample !== "object" || typeof answer !== "object") return [];
  const [shown, real] = [new Map(Object.entries(sample)), new Map(Object.entries(answer))];
  const lacking = shown.has("…") ? [] : [...real.keys()].filter((name) => !shown.has(name));
  const unknown = [...shown.keys()].filter((name) => name !== "…" && !real.has(name));
  return [
    ...lacking.map((name) => `${path}: the sample lacks ${name}`),
    ...unknown.map((name) => `${path}: only the sample has ${name}`),
    ...[...shown].filter(([name]) => real.has(name)).flatMap(([name, value]) =>
      shapeProblems(value, real.get(name), `${path}.${name}`)
    ),
  ];
}
