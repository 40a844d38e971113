// The heat map: an hour's figures under the pointer and by the arrow keys. Without this file the table below says the same.
"use strict";

const HOUR = 3600000;
const map = () => document.getElementById("heat-map");

function read() {
  const told = map().dataset.told.split(",");
  return { told, days: told.length / 24 };
}

// "place:value,…" → [[place, value], …]; a zone's name has no comma
const pairs = (text) => text.split(",").filter(Boolean).map((pair) => pair.split(/:(.*)/s));

// the UTC hours of a place: one each but where the clock is changed
function hoursOf(place) {
  const odd = pairs(map().dataset.odd).map(([where, hours]) => [Number(where), Number(hours)]);
  const before = odd.filter(([where]) => where < place).reduce((sum, [, hours]) => sum + hours - 1, place);
  const here = odd.find(([where]) => where === place);
  return { start: Number(map().dataset.start) + before * HOUR, hours: here ? here[1] : 1 };
}

function tell(place) {
  const { told } = read();
  const { start, hours } = hoursOf(place);
  const [day, hour] = [Math.floor(place / 24), place % 24];
  map().querySelector(".cursor").setAttribute("d", `M${day} ${hour}h1v1h-1z`);
  map().dataset.at = place;
  const at = new Date(start).toLocaleString("en-GB", {
    weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: map().dataset.zone,
  });
  const zone = pairs(map().dataset.zones).findLast(([where]) => Number(where) <= place)[1];
  const [goodput, held] = told[place].split("|");
  const figures = held ? `${goodput === "–" ? "no goodput" : `goodput ${goodput} %`}, ${held} GPU-hours held` : "nothing was held";
  const said = hours ? `${at} ${zone}${hours > 1 ? ` and the ${hours === 2 ? "hour" : `${hours - 1} hours`} after it, when the clock was put back` : ""}: ${figures}`
    : `The clock was put forward to ${at} ${zone}: there was no such hour`;
  document.getElementById("heat-told").textContent = said;
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
  const { told } = read();
  const { start, hours } = hoursOf(place);
  if (!told[place]) return;
  const url = new URL(location.href);
  const iso = (at) => new Date(at).toISOString().replace(".000", "");
  url.searchParams.delete("range");
  url.searchParams.delete("page");
  url.searchParams.set("start", iso(start));
  url.searchParams.set("end", iso(start + hours * HOUR));
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
