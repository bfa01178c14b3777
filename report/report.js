// Draws the page document (report/README.md) into <main id="page">. Needs lines_and_bars.js, grids.js, timeline.js and Chart.js.
"use strict";

const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6a51a3", "#8c6d31", "#444444", "#a6761d"];
const colours = new Map();  // of a name, the same in every chart of the page

function colourOf(name) {
  if (!colours.has(name)) colours.set(name, palette[colours.size % palette.length]);
  return colours.get(name);
}

// Of the series of one chart. A page with more names than colours would give two of them the same.
function coloursOf(names) {
  const own = names.map(colourOf);
  return new Set(own).size === own.length ? own : names.map((_, i) => palette[i % palette.length]);
}

// An element with a class, and a text or children.
function make(tag, kind = "", content = []) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  if (Array.isArray(content)) element.append(...content);
  else element.textContent = content;
  return element;
}

// Three significant digits, more where the whole part has more: 1,234; 12.3k; 0.0123.
function numberText(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  for (const [from, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
    const by = unit === "k" ? 1e3 : from;
    if (size >= from) return `${Number((value / by).toPrecision(3))}${unit}`;
  }
  if (size >= 100) return Math.round(value).toLocaleString("en");
  return size > 0 && size < 1e-4 ? value.toExponential(2).replace(/\.?0+e/, "e") : String(Number(value.toPrecision(3)));
}

const withUnit = (value, unit) => numberText(value) + (unit && value !== null ? ` ${unit}` : "");
// A number and its unit stay on one line.
const together = (text) => text.replace(/(\d) (s|ms|%)(?![\w])/g, "$1\u00a0$2");
const axisTitle = (axis) => (axis.label || "") + (axis.unit ? ` (${axis.unit})` : "");

// Calls `zoom(from, to)` with the two ends of a horizontal drag, in pixels of `element`, and `reset()` on a double click.
function dragZoom(element, zoom, reset) {
  let from = null, selection = null;
  const at = (event) => event.clientX - element.getBoundingClientRect().left;
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    from = at(event);
    selection = make("div", "selection");
    element.append(selection);
  });
  element.addEventListener("pointermove", (event) => {
    if (from === null) return;
    selection.style.left = `${Math.min(from, at(event))}px`;
    selection.style.width = `${Math.abs(at(event) - from)}px`;
  });
  const end = (event) => {
    if (from === null) return;
    const range = [Math.min(from, at(event)), Math.max(from, at(event))];
    selection.remove();
    from = null;
    if (event.type === "pointerup" && range[1] - range[0] > 8) zoom(...range);
  };
  for (const type of ["pointerup", "pointerleave", "pointercancel"]) element.addEventListener(type, end);
  element.addEventListener("dblclick", reset);
}

const drawers = { lines: drawLines, bars: drawBars, map: drawMap, timeline: drawTimeline, table: drawTable };

function drawChart(chart, into) {
  const figure = make("figure", chart.kind === "table" ? "chart whole" : "chart");
  if (chart.title) figure.append(make("h3", "", chart.title));
  if (chart.note) figure.append(make("p", "note", chart.note));
  into.append(figure);
  drawers[chart.kind](chart, figure);
}

// A folded section is drawn when it opens: what is hidden has no size.
function drawSection(section, page) {
  const pictures = section.charts.filter((chart) => chart.kind === "lines" || chart.kind === "bars");
  const charts = make("div", pictures.length === section.charts.length && pictures.length % 3 === 0 ? "charts three" : "charts");
  const note = section.note ? section.note.split("\n\n").map((text) => make("p", "note", text)) : [];
  const draw = () => section.charts.forEach((chart) => drawChart(chart, charts));
  if (!section.folded) {
    page.append(make("section", "", [make("h2", "", section.title), ...note, charts]));
    return draw();
  }
  const fold = make("details", "", [make("summary", "", [make("h2", "", section.title)]), ...note, charts]);
  fold.addEventListener("toggle", draw, { once: true });
  page.append(fold);
}

function drawPage(page, content) {
  document.title = content.title;
  page.append(make("h1", "", content.title), make("p", "subtitle", content.subtitle || ""));
  if (content.verdict?.length) page.append(make("div", "verdict", content.verdict.map((text) => make("p", "", together(text)))));
  for (const error of content.errors || []) page.append(make("p", "bad", error));
  const facts = (content.facts || []).map(([name, value]) => make("div", "", [make("dt", "", name), make("dd", "", String(value))]));
  if (facts.length) page.append(make("dl", "facts", facts));
  // Names take their colours in the order of the page, whichever section opens first.
  for (const section of content.sections)
    for (const chart of section.charts) if (chart.series?.length > 1) chart.series.forEach((series) => colourOf(series.name));
  for (const section of content.sections) drawSection(section, page);
  if (content.scenario)
    page.append(make("details", "", [make("summary", "", [make("h2", "", "The scenario")]), make("pre", "", content.scenario)]));
}

drawPage(document.getElementById("page"), JSON.parse(document.getElementById("document").textContent));
