// Draws the figures that the server made, in the colours of the theme. Without this file the tables say the same.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const drawn = new WeakMap();

function themed(figure) {
  const [text, muted, line, ground] = ["text", "muted", "line", "raised"].map(colour);
  for (const trace of figure.data) {
    trace.marker.color = colour(trace.meta);
    trace.marker.line = { color: colour("ground"), width: 1 };
    trace.marker.pattern.fgcolor = colour("ink");
  }
  const { layout } = figure;
  Object.assign(layout, { paper_bgcolor: "transparent", plot_bgcolor: "transparent" });
  layout.font = { ...layout.font, color: muted, family: getComputedStyle(document.body).fontFamily };
  layout.hoverlabel = { bgcolor: ground, bordercolor: line, font: { color: text } };
  for (const axis of [layout.xaxis, layout.yaxis]) Object.assign(axis, { gridcolor: line, linecolor: line, zerolinecolor: line });
  return figure;
}

function draw(chart) {
  const plot = chart.firstElementChild;
  const made = chart.dataset.figure + dark.matches;
  if (drawn.get(plot) === made) return;
  const isFirst = !drawn.has(plot);
  drawn.set(plot, made);
  const { data, layout } = themed(JSON.parse(chart.dataset.figure));
  if (plot.clientWidth < 600) {
    Object.assign(layout.xaxis, { tickmode: "array", tickvals: data[0].x, tickangle: 0 });
    layout.xaxis.ticktext = data[0].x.map((name) => name.split("<br>")[0].replace("Week ", "W"));
  }
  Plotly.react(plot, data, layout, { displayModeBar: false, responsive: true });
  if (isFirst) plot.on("plotly_click", (event) => location.assign(plot.layout.meta[event.points[0].pointIndex]));
}

const drawAll = () => document.querySelectorAll("[data-figure]").forEach(draw);

drawAll();
dark.addEventListener("change", drawAll);
document.addEventListener("htmx:afterSettle", drawAll);
