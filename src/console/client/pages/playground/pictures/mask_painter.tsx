import { useEffect, useRef, useState } from "preact/hooks";
import { Field } from "../../../components/action_form.tsx";
import { TEXTS } from "../../../texts.ts";
import { base64Of } from "../attachment.ts";
import type { Media } from "../conversation.ts";
import { dataUrl } from "../protocols/media.ts";

const texts = TEXTS.playground.pictures;
/** The share of the picture's width that a press of an arrow key moves the brush. */
const STEP = 0.03;
const PAINT = "#e0563b";

interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * A picture on which the part that may change is painted, with a pointer or with the keyboard. The canvas lies over the
 * picture and has its size in pixels.
 */
export function MaskPainter({ picture, mask, onChange }: {
  readonly picture: Media;
  /** What was painted before; null if nothing was. */
  readonly mask: Media | null;
  /** Gets the mask, transparent where it was painted; null if nothing is painted. */
  readonly onChange: (mask: Media | null) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [brush, setBrush] = useState(8);
  const [cursor, setCursor] = useState<Point>({ x: 0.5, y: 0.5 });
  const last = useRef<Point | null>(null);

  /** The masks of what this canvas shows. Another one was painted before the page was left, and is drawn again. */
  const own = useRef(new WeakSet<Media>());
  const latest = useRef(mask);
  latest.current = mask;

  const showMask = async () => {
    const area = canvas.current;
    if (area === null || (mask !== null && own.current.has(mask))) return;
    const picture = mask === null ? null : await loadedPicture(mask);
    if (latest.current === mask) redraw(area, picture);
  };
  useEffect(() => void showMask(), [mask]);

  /** Paints a line between two points, given as shares of width and height. */
  const paint = (from: Point, to: Point) => {
    const area = canvas.current;
    const context = area?.getContext("2d");
    if (!area || !context) return;
    const width = area.width * brush / 100;
    context.strokeStyle = context.fillStyle = PAINT;
    context.lineWidth = width;
    context.lineCap = "round";
    context.beginPath();
    context.moveTo(from.x * area.width, from.y * area.height);
    context.lineTo(to.x * area.width, to.y * area.height);
    context.stroke();
    // A line without a length draws nothing.
    context.beginPath();
    context.arc(to.x * area.width, to.y * area.height, width / 2, 0, 2 * Math.PI);
    context.fill();
  };
  const finish = async () => {
    last.current = null;
    const area = canvas.current;
    if (area === null) return;
    const made = await maskOf(area);
    own.current.add(made);
    onChange(made);
  };
  const pointOf = ({ clientX, clientY }: PointerEvent): Point => {
    const { left = 0, top = 0, width = 1, height = 1 } = canvas.current?.getBoundingClientRect() ?? {};
    return { x: (clientX - left) / width, y: (clientY - top) / height };
  };
  const moveByKey = (event: KeyboardEvent) => {
    const { x, y } = cursor;
    if (event.key === " ") {
      event.preventDefault();
      paint(cursor, cursor);
      void finish();
      return;
    }
    const moved = MOVES[event.key];
    if (moved === undefined) return;
    event.preventDefault();
    setCursor({ x: clamp(x + moved.x * STEP), y: clamp(y + moved.y * STEP) });
  };
  return (
    <div class="mask">
      <div class="mask-area">
        <img
          src={dataUrl(picture)}
          alt={picture.name}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
            const area = canvas.current;
            if (area === null || (area.width === naturalWidth && area.height === naturalHeight)) return;
            area.width = naturalWidth;
            area.height = naturalHeight;
            // A canvas loses what is painted when its size changes.
            own.current = new WeakSet();
            void showMask();
          }}
        />
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-label={texts.maskLabel}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            last.current = pointOf(event);
            paint(last.current, last.current);
          }}
          onPointerMove={(event) => {
            if (last.current === null) return;
            const next = pointOf(event);
            paint(last.current, next);
            last.current = next;
          }}
          onPointerUp={() => void finish()}
          onKeyDown={moveByKey}
        />
        <span class="mask-cursor" style={{ left: `${cursor.x * 100}%`, top: `${cursor.y * 100}%` }} />
      </div>
      <p class="hint">{texts.maskHint}</p>
      <div class="actions">
        <Field name={texts.brush}>
          <input
            type="range"
            min={1}
            max={30}
            value={brush}
            onInput={(event) => setBrush(event.currentTarget.valueAsNumber)}
          />
        </Field>
        <button type="button" class="small" disabled={mask === null} onClick={() => onChange(null)}>
          {texts.clearMask}
        </button>
      </div>
    </div>
  );
}

const MOVES: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}

async function loadedPicture(file: Media): Promise<HTMLImageElement> {
  const picture = new Image();
  picture.src = dataUrl(file);
  await picture.decode();
  return picture;
}

/** Paints where the mask is transparent; nothing without a mask. The inverse of {@linkcode maskOf}. */
function redraw(area: HTMLCanvasElement, mask: HTMLImageElement | null): void {
  const context = area.getContext("2d");
  if (context === null) return;
  context.clearRect(0, 0, area.width, area.height);
  if (mask === null) return;
  context.fillStyle = PAINT;
  context.fillRect(0, 0, area.width, area.height);
  context.globalCompositeOperation = "destination-out";
  context.drawImage(mask, 0, 0);
  context.globalCompositeOperation = "source-over";
}

/** A PNG of the same size, opaque except where the canvas is painted. */
async function maskOf(painted: HTMLCanvasElement): Promise<Media> {
  const area = document.createElement("canvas");
  area.width = painted.width;
  area.height = painted.height;
  const context = area.getContext("2d");
  if (context !== null) {
    context.fillRect(0, 0, area.width, area.height);
    context.globalCompositeOperation = "destination-out";
    context.drawImage(painted, 0, 0);
  }
  const png = await new Promise<Blob | null>((resolve) => area.toBlob(resolve, "image/png"));
  return { kind: "media", name: "mask.png", mediaType: "image/png", data: png === null ? "" : await base64Of(png) };
}
