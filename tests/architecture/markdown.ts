/**
 * The anchors of a page's headings, as GitHub makes them: lower case, spaces as hyphens, no punctuation but `-` and
 * `_`. The second heading of one text ends in `-1`, the third in `-2`. Fenced code is skipped.
 */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  for (const line of linesOutsideCode(page)) {
    const heading = /^#{1,6} +(.*?)(?: +#+)? *$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const anchor = anchorOf(heading);
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  return anchors;
}

/** The targets of a page's links that are no addresses: `money.md`, `../api/videos.md#create`, `#create`. */
export function relativeLinksOf(page: string): string[] {
  const text = linesOutsideCode(page).map((line) => line.replaceAll(/`[^`]*`/g, "")).join("\n");
  const inline = [...text.matchAll(/\]\(<?([^)\s>]+)>?(?: +"[^"]*")?\)/g)];
  const definitions = [...text.matchAll(/^ {0,3}\[[^\]]+\]: +<?([^\s>]+)/gm)];
  const targets = [...inline, ...definitions].map(([, target = ""]) => target);
  return targets.filter((target) => target !== "" && !/^[a-z][a-z0-9+.-]*:/i.test(target));
}

function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return text.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}_ -]/gu, "").trim().replaceAll(" ", "-");
}

function linesOutsideCode(page: string): string[] {
  let fence: string | null = null;
  return page.split("\n").filter((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fence === null) {
      fence = mark;
      return mark === null;
    }
    if (mark?.startsWith(fence)) fence = null;
    return false;
  });
}
