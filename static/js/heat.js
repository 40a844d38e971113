// The heat map: an hour's figures under the pointer and by the arrow keys. Without this file the table below says the same.
"use strict";

const HOUR = 3600000;
const map = () => document.getElementById("heat-map");

function read() {
  const told = map().dataset.told.split(",");
  return { told, start: Number(map().dataset.start), days: told.length / 24 };
}

function tell(place) {
  const { told, start } = read();
  const [day, hour] = [Math.floor(place / 24), place % 24];
  map().querySelector(".cursor").setAttribute("d", `M${day} ${hour}h1v1h-1z`);
  map().dataset.at = place;
  const at = new Date(start + place * HOUR).toLocaleString("en-GB", {
    weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: "UTC",
  });
  const [goodput, held] = told[place].split("|");
  const said = held ? `${goodput === "–" ? "no goodput" : `goodput ${goodput} %`}, ${held} GPU-hours held` : "nothing was held";
  document.getElementById("heat-told").textContent = `${at} UTC: ${said}`;
}

function placeOf(event) {
  const picture = event.target.closest?.(".heat-map");
  if (!picture) return null;
  const { left, top, width, height } = picture.getBoundingClientRect();
  const { days } = read();
  const day = Math.min(Math.max(Math.floor(((event.clientX - left) / width) * days), 0), days - 1);
  const hour = Math.min(Math.max(Math.floor(((event.clientY - top) / height) * 24), 0), 23);
  return day * 24 + hour;
}

function show(place) {
  const { told, start } = read();
  if (!told[place]) return;
  const url = new URL(location.href);
  const iso = (at) => new Date(at).toISOString().replace(".000", "");
  url.searchParams.delete("range");
  url.searchParams.delete("page");
  url.searchParams.set("start", iso(start + place * HOUR));
  url.searchParams.set("end", iso(start + (place + 1) * HOUR));
  location.assign(url);
}

document.addEventListener("pointermove", (event) => {
  const place = placeOf(event);
  if (place !== null && String(place) !== map().dataset.at) tell(place);
});

document.addEventListener("click", (event) => {
  const place = placeOf(event);
  if (place !== null) show(place);
});

document.addEventListener("keydown", (event) => {
  if (document.activeElement !== map()) return;
  const moves = { ArrowLeft: -24, ArrowRight: 24, ArrowUp: -1, ArrowDown: 1 };
  const last = read().told.length - 1;
  const at = Number(map().dataset.at ?? last);
  if (event.key === "Enter") return show(at);
  if (!(event.key in moves) && event.key !== "Home" && event.key !== "End") return;
  event.preventDefault();
  const to = event.key === "Home" ? 0 : event.key === "End" ? last : at + moves[event.key];
  if (to >= 0 && to <= last) tell(to);
});
