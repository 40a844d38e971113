// The timeline: exact instants under the pointer and by the arrow keys, and a part of it by dragging. Without this
// file the links above it look closer, and the browser's own tips tell the instants.
"use strict";

const lanes = () => document.getElementById("lanes");

function tell(rect) {
  document.querySelectorAll(".lane .picked").forEach((picked) => picked.classList.remove("picked"));
  rect?.classList.add("picked");
  const worker = rect?.closest(".line").querySelector(".who").firstChild.textContent.trim();
  if (rect) document.getElementById("told").textContent = `${worker}: ${rect.querySelector("title").textContent}`;
}

document.addEventListener("pointerover", (event) => {
  const rect = event.target.closest?.(".lane:not(.group) rect:not(.brush)");
  if (rect) tell(rect);
});

document.addEventListener("keydown", (event) => {
  const lane = document.activeElement?.closest?.(".lane");
  if (!lane || !["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
  event.preventDefault();
  const rects = [...lane.querySelectorAll("rect:not(.brush)")];
  const at = rects.findIndex((rect) => rect.classList.contains("picked"));
  const to = { ArrowLeft: Math.max(at - 1, 0), ArrowRight: at + 1, Home: 0, End: rects.length - 1 }[event.key];
  tell(rects[Math.min(to, rects.length - 1)]);
});

// --- dragging ---------------------------------------------------------------------------------------------------

let drag = null;

const fraction = (lane, x) => {
  const { left, width } = lane.getBoundingClientRect();
  return Math.min(Math.max((x - left) / width, 0), 1);
};

document.addEventListener("pointerdown", (event) => {
  const lane = event.target.closest?.(".lane");
  if (!lane || event.button !== 0 || event.pointerType === "touch") return;
  const brush = lane.appendChild(document.createElementNS(lane.namespaceURI, "rect"));
  brush.setAttribute("class", "brush");
  brush.setAttribute("height", "100%");
  drag = { lane, brush, from: fraction(lane, event.clientX), to: null };
});

document.addEventListener("pointermove", (event) => {
  if (!drag) return;
  drag.to = fraction(drag.lane, event.clientX);
  drag.brush.setAttribute("x", `${Math.min(drag.from, drag.to) * 100}%`);
  drag.brush.setAttribute("width", `${Math.abs(drag.to - drag.from) * 100}%`);
});

document.addEventListener("pointerup", () => {
  if (!drag) return;
  const { brush, from, to } = drag;
  brush.remove();
  drag = null;
  if (to === null || Math.abs(to - from) < 0.004) return;
  const { from: first, to: last } = lanes().dataset;
  const at = (part) => new Date(Math.round(Number(first) + part * (last - first))).toISOString();
  const url = new URL(location.href);
  url.searchParams.set("from", at(Math.min(from, to)));
  url.searchParams.set("to", at(Math.max(from, to)));
  url.hash = "timeline";
  location.assign(url);
});
