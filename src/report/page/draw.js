// What all tracks of the timeline share: colours of the scheme, text that fits, steps of axes.

/** The colours of the scheme that is on. */
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ['page', 'panel', 'line', 'soft', 'text', 'dim', 'accent', 'mark', 'product', 'reduce', 'pointwise', 'move', 'gather', 'other',
    'read', 'written', 'time', 'bound', 'above', 'on-colour', 'shade'];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** The smallest step of an axis with at most so many of them up to `end`: a factor times a power of the base. */
function niceStep(end, most, factors, base) {
  for (let power = 1; ; power *= base) {
    for (const factor of factors) if (end / (power * factor) <= most) return power * factor;
  }
}

/** Draws on a canvas, counts what it draws, and remembers what is where. */
class Pen {
  constructor(context) {
    this.context = context;
    this.nDrawn = 0;
    this.hits = [];
  }

  begin() {
    this.nDrawn = 0;
    this.hits = [];
  }

  box(x, y, width, height, colour) {
    this.nDrawn += 1;
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  frame(x, y, width, height, colour, lineWidth) {
    this.nDrawn += 1;
    this.context.strokeStyle = colour;
    this.context.lineWidth = lineWidth;
    this.context.strokeRect(x, y, width, height);
  }

  line(points, colour, lineWidth = 1) {
    this.nDrawn += 1;
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = lineWidth;
    context.beginPath();
    points.forEach(([x, y], number) => (number ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
  }

  /** Text that begins, ends or has its middle at x; cut to a width, left out where nothing of it fits. */
  text(text, x, y, colour, { most = Infinity, align = 'left', font = 'normal 11px system-ui, "DejaVu Sans", sans-serif' } = {}) {
    const { context } = this;
    context.font = font;
    let shown = text;
    if (most < Infinity) {
      const width = context.measureText(text).width;
      if (width > most) {
        const letters = Math.floor((text.length * most) / width) - 1;
        if (letters < 2) return;
        shown = `${text.slice(0, letters)}…`;
      }
    }
    this.nDrawn += 1;
    context.fillStyle = colour;
    context.textAlign = align;
    context.fillText(shown, x, y);
  }

  /** Remembers where something is, for pointers and tests. */
  hit(kind, index, x, y, width, height) {
    this.hits.push({ kind, index, x, y, width, height });
  }

  /** What was drawn last at a point. */
  at(x, y) {
    for (let number = this.hits.length - 1; number >= 0; number -= 1) {
      const hit = this.hits[number];
      if (x >= hit.x && x <= hit.x + hit.width && y >= hit.y && y <= hit.y + hit.height) return hit;
    }
    return null;
  }
}
