// A timeline: rows of spans on a canvas, with a zoom, values under the pointer, and kinds that a click hides.
"use strict";

const timelineLeft = 92, timelineBottom = 24;

function timelineTicks(from, to) {
  const rough = (to - from) / 8;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const ticks = [];
  for (let at = Math.ceil(from / step - 1e-9) * step; at <= to + step * 1e-6; at += step) ticks.push(Number(at.toPrecision(9)));
  return ticks;
}

class Timeline {
  constructor(chart, figure) {
    Object.assign(this, { chart, hidden: new Set(), range: [chart.from_s, chart.to_s], rowPx: Math.min(Math.max(Math.floor(260 / chart.rows.length), 7), 22) });
    this.colours = chart.kinds.map((kind, i) => kind.color || palette[i % palette.length]);
    this.canvas = make("canvas");
    this.box = make("div", "drawn", [this.canvas]);
    this.tip = make("div", "tip");
    figure.append(this.legend(), this.box);
    this.box.addEventListener("mousemove", (event) => this.point(event));
    this.box.addEventListener("mouseleave", () => this.tip.remove());
    dragZoom(this.box, (a, b) => this.show(this.timeAt(a), this.timeAt(b)), () => this.show(chart.from_s, chart.to_s));
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  // Only kinds that are drawn.
  legend() {
    const used = new Set(this.chart.spans.map((span) => span[3]));
    const buttons = this.chart.kinds.flatMap((kind, i) => {
      if (!used.has(i)) return [];
      const swatch = make("span", "swatch");
      swatch.style.background = this.colours[i];
      const button = make("button", "", [swatch, kind.name]);
      button.addEventListener("click", () => {
        button.classList.toggle("off", !this.hidden.delete(i) && Boolean(this.hidden.add(i)));
        this.draw();
      });
      return [button];
    });
    return make("div", "legend", buttons);
  }

  show(from, to) {
    this.range = [Math.max(from, this.chart.from_s), Math.min(to, this.chart.to_s)];
    this.draw();
  }
  width() { return this.box.clientWidth - timelineLeft - 8; }
  x(time) { return timelineLeft + ((time - this.range[0]) / (this.range[1] - this.range[0])) * this.width(); }
  timeAt(x) { return this.range[0] + ((x - timelineLeft) / this.width()) * (this.range[1] - this.range[0]); }

  draw() {
    const { chart, canvas, rowPx } = this;
    const [width, height] = [this.box.clientWidth, chart.rows.length * rowPx + timelineBottom];
    if (width === 0) return;
    const dots = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: width * dots, height: height * dots });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px`, display: "block" });
    const ctx = canvas.getContext("2d");
    ctx.scale(dots, dots);
    this.drawAxes(ctx, width, height);
    for (const [row, from, to, kind] of chart.spans) {
      if (this.hidden.has(kind) || to <= this.range[0] || from >= this.range[1]) continue;
      const [a, b] = [Math.max(this.x(from), timelineLeft), Math.min(this.x(to), width - 8)];
      ctx.fillStyle = this.colours[kind];
      // A gap of a pixel parts spans that follow each other.
      ctx.fillRect(a, row * rowPx + 1, Math.max(b - a - (b - a > 3 ? 1 : 0), 0.5), rowPx - Math.min(4, rowPx / 4));
    }
  }

  drawAxes(ctx, width, height) {
    ctx.font = "12px " + Chart.defaults.font.family;
    ctx.fillStyle = "#5c6b7a";
    ctx.strokeStyle = "#e8ecf0";
    ctx.textAlign = "right";
    const every = Math.ceil(12 / this.rowPx);
    this.chart.rows.forEach((name, row) => row % every === 0 && ctx.fillText(name, timelineLeft - 8, row * this.rowPx + this.rowPx / 2 + 3, timelineLeft - 12));
    ctx.textAlign = "center";
    for (const tick of timelineTicks(...this.range)) {
      const x = this.x(tick);
      ctx.beginPath();
      ctx.moveTo(x, 0);
      ctx.lineTo(x, height - timelineBottom + 4);
      ctx.stroke();
      ctx.fillText(`${tick} s`, Math.min(x, width - 18), height - 6);
    }
  }

  point(event) {
    const bounds = this.box.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    const row = Math.floor(y / this.rowPx), time = this.timeAt(x);
    const span = this.chart.spans.find(([r, from, to, kind]) => r === row && from <= time && time < to && !this.hidden.has(kind));
    if (!span) return this.tip.remove();
    const name = this.chart.kinds[span[3]].name;
    this.tip.textContent = `${this.chart.rows[row]}: ${name}${span[4] ? ` ${span[4]}` : ""}, ${numberText((span[2] - span[1]) * 1000)} ms from ${span[1].toFixed(3)} s`;
    Object.assign(this.tip.style, { left: `${Math.min(x + 12, bounds.width - 260)}px`, top: `${y + 14}px` });
    if (!this.tip.isConnected) this.box.append(this.tip);
  }
}

function drawTimeline(chart, figure) { new Timeline(chart, figure); }
