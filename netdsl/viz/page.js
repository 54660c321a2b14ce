"use strict";
// Tabs, and the values of curves under the pointer. Pictures are built when their tab is first shown.

const pictures = new Map();

function showTab(index) {
  for (const part of document.querySelectorAll("main > section")) part.hidden = part.dataset.tab !== index;
  for (const button of document.querySelectorAll("nav button")) {
    button.setAttribute("aria-selected", String(button.dataset.tab === index));
  }
  const view = document.querySelector(`main > section[data-tab="${index}"] .view`);
  if (view && !pictures.has(index)) pictures.set(index, new Picture(view));
}

function followHash() {
  const wanted = location.hash.slice(4);
  showTab(document.querySelector(`nav button[data-tab="${CSS.escape(wanted)}"]`) ? wanted : "0");
}

function nearest(points, step) {
  return points.reduce((best, point) => (Math.abs(point[0] - step) < Math.abs(best[0] - step) ? point : best));
}

function followCurves(figure) {
  const chart = figure.querySelector("svg");
  const cursor = chart.querySelector(".cursor");
  const values = figure.querySelector(".values");
  const data = JSON.parse(figure.querySelector("script").textContent);
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * data.width;
    const part = Math.min(1, Math.max(0, (x - data.left) / (data.right - data.left)));
    const found = data.series.map((series) => ({ name: series.name, point: nearest(series.points, part * data.total) }));
    const at = data.left + part * (data.right - data.left);
    cursor.setAttribute("x1", at);
    cursor.setAttribute("x2", at);
    cursor.removeAttribute("hidden");
    const shown = found.map(({ name, point }) => `${name} ${point[1] === null ? "not a number" : Number(point[1].toPrecision(4))}`);
    values.textContent = `step ${Math.round(part * data.total)}: ${shown.join(" · ")}`;
  });
  chart.addEventListener("pointerleave", () => {
    cursor.setAttribute("hidden", "");
    values.textContent = "\u00a0";
  });
}

for (const button of document.querySelectorAll("nav button")) {
  button.addEventListener("click", () => { location.hash = `tab${button.dataset.tab}`; });
}
for (const figure of document.querySelectorAll("figure.curves")) followCurves(figure);
if (document.querySelectorAll("nav button").length < 2) document.querySelector("nav").hidden = true;
addEventListener("hashchange", followHash);
followHash();
