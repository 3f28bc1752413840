import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import { localTime } from "../format.ts";
import { stacked } from "../stacked.ts";

/** A line or an area of a chart. */
export interface ChartSeries {
  readonly name: string;
  /** One for each time; null for none. */
  readonly values: readonly (number | null)[];
}

/** Options of {@linkcode TimeChart}. */
export interface TimeChartOptions {
  /** For screen readers. */
  readonly label: string;
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  /** Writes a value at the axis and beside the chart. */
  readonly format: (value: number) => string;
  /** Whether the values are parts of a whole, drawn on top of each other. Default: false. */
  readonly isStacked?: boolean;
}

const HEIGHT = 190;
/** The colours of series are custom properties of the style sheet: `--series-1` and so on. */
const COLOURS = 8;

/** Values over time. */
export function TimeChart({ label, times, series, format, isStacked = false }: TimeChartOptions) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | null>(null);
  const drawn = isStacked ? stacked(series.map(({ values }) => values)) : series.map(({ values }) => values);
  const data = [times, ...drawn] as unknown as UPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  const names = series.map(({ name }) => name).join("\n");

  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const draw = () => {
      chart.current?.destroy();
      chart.current = new UPlot(optionsFor({ element, names, format, isStacked }), latest.current, element);
    };
    draw();
    const resized = new ResizeObserver(() => chart.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    addEventListener("themechange", draw);
    return () => {
      resized.disconnect();
      scheme.removeEventListener("change", draw);
      removeEventListener("themechange", draw);
      chart.current?.destroy();
      chart.current = null;
    };
  }, [names, isStacked]);
  useEffect(() => chart.current?.setData(data), [data]);

  return (
    <figure class="chart">
      <div ref={host} role="img" aria-label={label} />
      <figcaption>
        <ul class="legend">
          {series.map(({ name, values }, index) => (
            <li key={name}>
              <span class={`swatch series-${index % COLOURS + 1}`} /> {name}
              <span class="legend-value">{format(values.findLast((value) => value !== null) ?? 0)}</span>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}

interface DrawnChart extends Pick<TimeChartOptions, "format"> {
  readonly element: HTMLElement;
  /** A line for each series. */
  readonly names: string;
  readonly isStacked: boolean;
}

const DAY_SECONDS = 86_400;

/** Shorter spans have seconds at the axis. */
const MIN_SPAN_SECONDS = 240;

/** Times at the axis, in the viewer's zone: hours and minutes, or days if they are further apart. */
function timesOf(seconds: readonly number[]): string[] {
  const [first = 0] = seconds;
  const span = (seconds.at(-1) ?? first) - first;
  if (span > 2 * DAY_SECONDS) return seconds.map((at) => localTime(at).slice(5, 10));
  return seconds.map((at) => localTime(at).slice(11, span < MIN_SPAN_SECONDS ? 19 : 16));
}

function optionsFor({ element, names, format, isStacked }: DrawnChart): UPlot.Options {
  const labels = names.split("\n");
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--muted"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    // Each area ends at the series below it.
    ...isStacked && { bands: labels.slice(1).map((_, index) => ({ series: [index + 2, index + 1] })) },
    cursor: { y: false, points: { show: !isStacked } },
    scales: { y: { range: (_chart, _min, max) => [0, max > 0 ? max * 1.05 : 1] } },
    axes: [
      { ...axis, space: 70, size: 28, values: (_chart, splits) => timesOf(splits) },
      { ...axis, size: 64, space: 36, values: (_chart, splits) => splits.map(format) },
    ],
    series: [
      {},
      ...labels.map((label, index): UPlot.Series => {
        const stroke = colour(`--series-${index % COLOURS + 1}`);
        return { label, stroke, width: 1.5, points: { show: false }, ...isStacked && { fill: `${stroke}40` } };
      }),
    ],
  };
}
