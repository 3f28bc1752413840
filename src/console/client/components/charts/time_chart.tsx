import { useEffect, useRef, useState } from "preact/hooks";
import UPlot from "uplot";
import { stacked } from "../../lists/stacked.ts";
import { TEXTS } from "../../texts.ts";
import { axisTexts, dayText, dayTexts, pointText, stepsOf, utcDaysIn } from "./chart_axis.ts";
import { placeAfterKey } from "./chart_keys.ts";

/** A line or an area of a chart. */
export interface ChartSeries {
  readonly name: string;
  /** One for each time; null for none. */
  readonly values: readonly (number | null)[];
  /** The number of its color. Default: that of its place. */
  readonly color?: number;
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
  /**
   * How values are drawn: as lines between times, as steps that hold from a time to the next, or as bars for days.
   * Default: lines.
   */
  readonly shape?: "lines" | "steps" | "bars";
  /** The first and the last time of the axis, in Unix seconds. Default: those of the values. */
  readonly axis?: readonly [number, number];
  /** Whether the times are starts of UTC days, which are written as such. Default: false. */
  readonly isByUtcDay?: boolean;
}

const HEIGHT = 190;
const END_PADDING = 20;
/** The colors of series are custom properties of the style sheet: `--series-1` and so on. */
const COLORS = 8;

/** Left of the chart, where the pointer points at nothing. */
const OUTSIDE = { left: -10, top: -10 };

/** Values over time. The legend has those at the pointer, which the arrow keys also move; else the last ones. */
export function TimeChart(options: TimeChartOptions) {
  const { label, times, series, format, isStacked = false, isByUtcDay = false, shape = "lines", axis } = options;
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const drawn = isStacked ? stacked(series.map(({ values }) => values)) : series.map(({ values }) => values);
  // The highest is drawn first: a bar covers those that are drawn before it, and the line of nothing is covered by that
  // of the area below it.
  const data = [times, ...(isStacked ? drawn.toReversed() : drawn)] as unknown as UPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  const ends = useRef(axis);
  ends.current = axis;
  const names = series.map(({ name }) => name).join("\n");
  const colors = series.map(({ color }, index) => color ?? index % COLORS + 1).join(" ");

  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const draw = () => {
      chart.current?.destroy();
      const onPoint = setPointed;
      const options = optionsFor({
        element,
        names,
        colors,
        format,
        isStacked,
        isByUtcDay,
        shape,
        onPoint,
        ends: () => ends.current,
      });
      chart.current = new UPlot(options, latest.current, element);
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
  }, [names, colors, isStacked, isByUtcDay, shape]);
  useEffect(() => chart.current?.setData(data), [data]);

  const last = Math.max(0, times.length - 1);
  const place = Math.min(pointed ?? last, last);
  const time = (isByUtcDay ? dayText : pointText)(times[place] ?? 0);
  const own = colors.split(" ");
  const values = series.map(({ name, values }, index) => ({
    name,
    color: own[index],
    text: textAt(values, place, format),
  }));
  const move = (event: KeyboardEvent) => {
    const to = placeAfterKey(event.key, place, last);
    if (to === undefined) return;
    event.preventDefault();
    const left = to === null ? null : chart.current?.valToPos(times[to] ?? 0, "x");
    chart.current?.setCursor(left === null || left === undefined ? OUTSIDE : { left, top: 0 });
  };
  return (
    <figure class="chart">
      <div
        ref={host}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={place}
        aria-valuetext={[time, ...values.map(({ name, text }) => `${name} ${text}`)].join(", ")}
        onKeyDown={move}
        onBlur={() => chart.current?.setCursor(OUTSIDE)}
      />
      <figcaption>
        <ul class="legend">
          <li class="legend-time">{time}</li>
          {values.map(({ name, text, color }) => (
            <li key={name}>
              <span class={`swatch series-${color}`} /> {name}
              <span class="legend-value">{text}</span>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}

function textAt(values: readonly (number | null)[], place: number, format: (value: number) => string): string {
  const value = values[place] ?? null;
  return value === null ? TEXTS.app.noValue : format(value);
}

interface DrawnChart extends Required<Pick<TimeChartOptions, "format" | "isStacked" | "isByUtcDay" | "shape">> {
  readonly element: HTMLElement;
  /** The ends of the axis now; undefined for those of the values. */
  readonly ends: () => TimeChartOptions["axis"];
  /** A line for each series. */
  readonly names: string;
  /** The numbers of their colors, with spaces between them. */
  readonly colors: string;
  /** Called with the place of the time at the pointer; null for none. */
  readonly onPoint: (place: number | null) => void;
}

function optionsFor(
  { element, names, colors, format, isStacked, isByUtcDay, shape, onPoint, ends }: DrawnChart,
): UPlot.Options {
  const labels = names.split("\n");
  const numbers = colors.split(" ");
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--muted"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  const lines = labels.map((label, index): UPlot.Series => {
    const stroke = colour(`--series-${numbers[index]}`);
    const paths = pathsOf(shape);
    const fill = shape === "bars" ? stroke : `${stroke}60`;
    return {
      label,
      stroke,
      width: shape === "bars" ? 0 : 1.5,
      points: { show: false },
      ...paths && { paths },
      ...isStacked && { fill },
    };
  });
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [8, END_PADDING, 0, 0], // half of a time at the end of the axis
    legend: { show: false },
    // Each area ends at the series below it.
    ...isStacked && shape !== "bars" &&
      { bands: labels.slice(1).map((_, index) => ({ series: [index + 1, index + 2] })) },
    cursor: { y: false, points: { show: !isStacked } },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    scales: {
      x: { range: (_chart, min, max) => [...ends() ?? [min, max]] as UPlot.Range.MinMax },
      y: { range: (_chart, _min, max) => [0, max > 0 ? max * 1.05 : 1] },
    },
    axes: [
      {
        ...axis,
        space: 70,
        size: 28,
        incrs: (_chart, _axis, min, max) => stepsOf(isByUtcDay ? Infinity : max - min),
        ...isByUtcDay && { splits: (_chart, _axis, min, max, step) => utcDaysIn(min, max, step) },
        values: (_chart, splits) => (isByUtcDay ? dayTexts : axisTexts)(splits),
      },
      { ...axis, size: 64, space: 36, values: (_chart, splits) => splits.map(format) },
    ],
    series: [
      {},
      ...(isStacked ? lines.toReversed() : lines),
    ],
  };
}

/** Where a step or a day is drawn: after the time at which it begins. */
const AFTER_TIME = 1;
/** Of the width of a day. */
const BAR_WIDTH = 0.8;

function pathsOf(shape: DrawnChart["shape"]): UPlot.Series.PathBuilder | undefined {
  if (shape === "lines") return undefined;
  return shape === "steps"
    ? UPlot.paths.stepped?.({ align: AFTER_TIME })
    : UPlot.paths.bars?.({ align: AFTER_TIME, size: [BAR_WIDTH] });
}
