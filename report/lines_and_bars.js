// Charts that Chart.js draws: lines with bands, and bars with whiskers.
"use strict";

Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.color = "#5c6b7a";
Chart.defaults.plugins.legend.labels.boxWidth = 12;

function canvasIn(figure, height = 0) {
  const canvas = make("canvas");
  const box = make("div", "canvas", [canvas]);
  if (height) box.style.height = `${height}px`;
  figure.append(box);
  return canvas;
}

const isPowerOfTen = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;

function axisOf(axis) {
  return {
    type: axis.log ? "logarithmic" : "linear",
    title: { display: Boolean(axis.label), text: axisTitle(axis) },
    ticks: { callback: (value) => (axis.log && !isPowerOfTen(value) ? null : numberText(value)), maxTicksLimit: axis.log ? undefined : 8, maxRotation: 0 },
    grid: { color: "#e8ecf0" },
    min: axis.min,
    max: axis.max,
  };
}

const rangeText = (low, high, unit) => (low === undefined || low === null ? "" : ` (${numberText(low)} to ${withUnit(high, unit)})`);

// A series is one line, and with low and high two more without a name: the edges of its band.
function lineSets(series, colour, log) {
  const drawable = (value) => (value === null || value === undefined || (log && value <= 0) ? NaN : value);
  const points = (values) => series.points.map(([x], i) => ({ x, y: drawable(values[i]) }));
  const line = {
    label: series.name, series: series.name, data: points(series.points.map(([, y]) => y)), low: series.low, high: series.high,
    borderColor: colour, backgroundColor: colour, borderWidth: 2, borderDash: series.dashed ? [5, 4] : [],
    pointRadius: series.points.length > 40 ? 0 : 2.5, pointHoverRadius: 5,
  };
  if (!series.low) return [line];
  const edge = { series: series.name, borderWidth: 0, pointRadius: 0, pointHitRadius: 0, pointHoverRadius: 0, backgroundColor: colour + "26" };
  return [line, { ...edge, data: points(series.low), fill: false }, { ...edge, data: points(series.high), fill: "-1" }];
}

// Dashed lines at given values, each with its text.
const marksPlugin = {
  id: "marks",
  afterDatasetsDraw(chart, _, options) {
    const { ctx, chartArea: area, scales } = chart;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = "#5c6b7a";
    ctx.font = "12px sans-serif";
    ctx.setLineDash([4, 4]);
    for (const mark of options.marks || []) {
      const across = mark.y !== undefined;
      const at = across ? scales.y.getPixelForValue(mark.y) : scales.x.getPixelForValue(mark.x);
      if (across ? at < area.top || at > area.bottom : at < area.left || at > area.right) continue;
      ctx.beginPath();
      ctx.moveTo(across ? area.left : at, across ? at : area.top);
      ctx.lineTo(across ? area.right : at, across ? at : area.bottom);
      ctx.stroke();
      ctx.textAlign = across ? "right" : "left";
      const place = [mark.text || "", across ? area.right - 4 : at + 4, across ? at + 14 : area.top + 11];
      ctx.save();
      ctx.setLineDash([]);
      ctx.lineWidth = 4;
      ctx.strokeStyle = "#ffffffdd";
      ctx.strokeText(...place);
      ctx.fillText(...place);
      ctx.restore();
    }
    ctx.restore();
  },
};

function drawLines(chart, figure) {
  const [x, y] = [chart.x || {}, chart.y || {}];
  const shades = coloursOf(chart.series.map((series) => series.name));
  const toggle = (event, item, legend) => {
    const sets = legend.chart.data.datasets;
    const name = sets[item.datasetIndex].series;
    const shown = legend.chart.isDatasetVisible(item.datasetIndex);
    sets.forEach((set, i) => set.series === name && legend.chart.setDatasetVisibility(i, !shown));
    legend.chart.update();
  };
  const label = (item) => {
    const { dataset, dataIndex } = item;
    const range = rangeText(dataset.low?.[dataIndex], dataset.high?.[dataIndex], y.unit);
    return `${dataset.label}: ${withUnit(item.parsed.y, y.unit)}${range}`;
  };
  const drawn = new Chart(canvasIn(figure), {
    type: "line",
    data: { datasets: chart.series.flatMap((series, i) => lineSets(series, shades[i], y.log)) },
    options: {
      parsing: false,
      interaction: { mode: "nearest", intersect: false },
      scales: { x: axisOf(x), y: axisOf(y) },
      plugins: {
        legend: { display: chart.series.length > 1, onClick: toggle, labels: { filter: (item, data) => Boolean(data.datasets[item.datasetIndex].label) } },
        tooltip: {
          filter: (item) => Boolean(item.dataset.label),
          callbacks: { title: (items) => (items.length ? `${x.label || "x"} ${withUnit(items[0].parsed.x, x.unit)}` : ""), label },
        },
        marks: { marks: chart.marks },
      },
    },
    plugins: [marksPlugin],
  });
  const show = (from, to) => {
    Object.assign(drawn.options.scales.x, { min: from, max: to });
    drawn.update();
  };
  const valueAt = (pixel) => drawn.scales.x.getValueForPixel(Math.min(Math.max(pixel, drawn.chartArea.left), drawn.chartArea.right));
  dragZoom(drawn.canvas.parentElement, (a, b) => show(valueAt(a), valueAt(b)), () => show(undefined, undefined));
}

// A line from low to high through the end of each bar that has them.
const whiskersPlugin = {
  id: "whiskers",
  afterDatasetsDraw(chart) {
    const { ctx, scales, data, options } = chart;
    const flat = options.indexAxis === "y";
    ctx.save();
    ctx.strokeStyle = "#1c2733";
    data.datasets.forEach((set, index) => {
      if (!set.low || !chart.isDatasetVisible(index)) return;
      chart.getDatasetMeta(index).data.forEach((bar, i) => {
        if (set.low[i] === null || set.low[i] === undefined || set.low[i] === set.high[i]) return;
        const [from, to] = [set.low[i], set.high[i]].map((value) => scales[flat ? "x" : "y"].getPixelForValue(value));
        const place = (along, across) => (flat ? [along, bar.y + across] : [bar.x + across, along]);
        ctx.beginPath();
        for (const [a, b] of [[[from, 0], [to, 0]], [[from, -4], [from, 4]], [[to, -4], [to, 4]]]) {
          ctx.moveTo(...place(...a));
          ctx.lineTo(...place(...b));
        }
        ctx.stroke();
      });
    });
    ctx.restore();
  },
};

function drawBars(chart, figure) {
  const longest = Math.max(...chart.categories.map((name) => name.length));
  const flat = longest > 16 || (chart.categories.length > 14 && chart.series.length < 3);
  const alone = chart.series.length === 1;
  // Bars of one series that stand for lines of other charts take the colours of those lines.
  const named = alone && chart.categories.every((name) => colours.has(name));
  const shades = coloursOf(named ? chart.categories : chart.series.map((series) => series.name));
  const unit = chart.y?.unit;
  const label = (item) => {
    const { dataset, dataIndex } = item;
    return `${dataset.label || ""} ${withUnit(dataset.data[dataIndex], unit)}${rangeText(dataset.low?.[dataIndex], dataset.high?.[dataIndex], unit)}`;
  };
  const highest = Math.max(...chart.series.flatMap((series) => (series.high || []).filter((value) => value !== null)));
  const values = { ...axisOf(chart.y || {}), beginAtZero: true, suggestedMax: Number.isFinite(highest) ? highest : undefined };
  const names = { grid: { display: false }, ticks: { autoSkip: chart.categories.length > 30 } };
  const height = flat ? Math.max(140, 70 + chart.categories.length * (10 + 16 * Math.min(chart.series.length, 3))) : 0;
  new Chart(canvasIn(figure, height), {
    type: "bar",
    data: {
      labels: chart.categories,
      datasets: chart.series.map((series, i) => ({
        label: series.name, data: series.values, low: series.low, high: series.high, maxBarThickness: 60,
        backgroundColor: named ? shades : alone ? palette[0] : shades[i],
      })),
    },
    options: {
      indexAxis: flat ? "y" : "x",
      interaction: { mode: "index", axis: flat ? "y" : "x", intersect: false },
      scales: flat ? { x: values, y: names } : { x: names, y: values },
      plugins: { legend: { display: !alone }, tooltip: { callbacks: { label } } },
    },
    plugins: [whiskersPlugin],
  });
}
