// Charts that are HTML tables: tables of cells, and maps of coloured ones.
"use strict";

// The box scrolls, and says so where something is hidden.
function wideBox(content) {
  const box = make("div", "wide", [content]);
  const hint = make("div", "hint", "More columns to the right: scroll sideways →");
  new ResizeObserver(() => box.classList.toggle("cut", box.scrollWidth > box.clientWidth + 1)).observe(box);
  return [box, hint];
}

function drawTable(chart, figure) {
  const kinds = chart.columns.map((column, i) => ((column.align || (i === 0 ? "left" : "right")) === "left" ? "left" : ""));
  const head = chart.columns.map((column, i) => make("th", kinds[i], column.name));
  // A sentence wraps, so that the columns behind it can be seen; names and numbers stay on one line.
  const kindOf = (cell, i) => (kinds[i] && String(cell).length > 30 ? "left long" : kinds[i]);
  const rows = chart.rows.map((cells) =>
    make("tr", "", cells.map((cell, i) => make("td", kindOf(cell, i), typeof cell === "number" || cell === null ? numberText(cell) : String(cell)))));
  figure.append(...wideBox(make("table", "cells", [make("thead", "", [make("tr", "", head)]), make("tbody", "", rows)])));
}

// From near white to dark blue; the eye reads it as a height.
function heat(share) {
  const stops = [[247, 250, 253], [158, 202, 225], [33, 113, 181], [8, 48, 107]];
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(at), stops.length - 2);
  const mix = stops[below].map((part, i) => Math.round(part + (at - below) * (stops[below + 1][i] - part)));
  return `rgb(${mix})`;
}

function drawMap(chart, figure) {
  const scale = make("span", "scale");
  scale.style.background = `linear-gradient(90deg, ${[0, 1 / 3, 2 / 3, 1].map(heat)})`;
  const legend = make("div", "legend", [make("span", "", [`0`, scale, withUnit(chart.max, chart.unit)])]);
  if (chart.values.some((row) => row.includes(null))) legend.append(make("span", "", [make("span", "swatch none"), chart.none || "no value"]));
  const rows = chart.rows.map((name, r) => {
    const cells = chart.columns.map((column, c) => {
      const value = chart.values[r][c];
      const cell = make("td", value === null ? "none" : "");
      if (value !== null) cell.style.background = heat(chart.max > 0 ? value / chart.max : 0);
      cell.title = `${name}, ${column}: ${value === null ? chart.none || "no value" : withUnit(value, chart.unit)}`;
      return cell;
    });
    return make("tr", "", [make("th", "", name), ...cells]);
  });
  // Five names below the columns; each spans as far as the next.
  const step = Math.max(1, Math.ceil(chart.columns.length / 5));
  const names = [make("th")];
  for (let c = 0; c < chart.columns.length; c += step) {
    const cell = make("td", "", chart.columns[c]);
    cell.colSpan = Math.min(step, chart.columns.length - c);
    names.push(cell);
  }
  const table = make("table", "map", [make("tbody", "", rows), make("tfoot", "", [make("tr", "", names)])]);
  // The first row sets the widths of all columns.
  table.style.setProperty("--row", `${Math.min(Math.max(Math.floor(220 / chart.rows.length), 4), 16)}px`);
  if (chart.rows.length > 24) table.querySelectorAll("tbody th").forEach((head, r) => r % 8 && (head.textContent = ""));
  if (chart.rows.length > 24) table.querySelectorAll("tbody th").forEach((head) => (head.style.lineHeight = "4px"));
  figure.append(legend, table);
}
