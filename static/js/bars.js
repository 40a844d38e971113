// What a bar says as a list, a line a category, each leading to the rows sorted by it: under the pointer, in focus, and
// by the arrow keys. Without this file the words show as they are.
"use strict";

const CATEGORIES = ["productive", "idle", "stalled", "starting", "restart", "failure", "preemption", "waiting"];
const SVG = "http://www.w3.org/2000/svg";

function made(tag, text, name) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (name) element.className = name;
  return element;
}

function keyOf(label) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", "key");
  picture.append(document.createElementNS(SVG, "use"));
  picture.firstChild.setAttribute("href", `#key-${label}`);
  return picture;
}

function line(said, to) {
  const [, label, hours, share] = said.match(/^(\w+) (.+) GPU-hours, (.+)$/) ?? [];
  if (!label) return null;
  const item = made("li", "", `k${CATEGORIES.indexOf(label)}`);
  const inner = made(to ? "a" : "span");
  if (to) Object.assign(inner, { href: `${to}sort=-${label}`, tabIndex: -1 });
  inner.append(keyOf(label), label, made("b", hours), made("i", share));
  item.append(inner);
  return item;
}

function sums(row) {
  const told = ["held", "lost"].map((name) => [name, row?.querySelector(`td.${name}`)?.textContent]).filter(([, of]) => of);
  if (!told.length) return [];
  const all = made("p", "", "sums");
  for (const [name, of] of told) {
    const each = made("span", `${name} `);
    each.append(made("b", of));
    all.append(each);
  }
  return [all];
}

function unfold(where) {
  const cell = where.closest(".went");
  if (!cell || cell.querySelector(".card")?.contains(document.activeElement)) return;
  const said = where.getAttribute("aria-label").split("; ");
  const list = made("ul");
  list.append(...said.map((of) => line(of, where.dataset.to)).filter(Boolean));
  if (!list.children.length) return;
  const row = where.closest("tr");
  const title = made("p");
  title.append(made("b", row?.querySelector("th .name, th")?.textContent.trim()));
  const card = made("div", "", "card");
  card.append(title, list, ...sums(row));
  cell.querySelector(".card")?.remove();
  cell.append(card);
  globalThis.htmx?.process(card);
}

document.addEventListener("pointerover", (event) => {
  const where = event.target.closest?.(".where[aria-label]");
  if (where && !where.contains(event.relatedTarget)) unfold(where);
});

document.addEventListener("focusin", (event) => {
  if (event.target.matches?.(".where[aria-label]")) unfold(event.target);
});

document.addEventListener("keydown", (event) => {
  const cell = document.activeElement?.closest?.(".went");
  const links = [...(cell?.querySelectorAll(".card a") ?? [])];
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  const at = links.indexOf(document.activeElement);
  if (event.key === "Escape" && at >= 0) cell.querySelector(".where").focus();
  if (!step || !links.length) return;
  event.preventDefault();
  links[(at < 0 && step < 0 ? links.length : at + step + links.length) % links.length].focus();
});

// a refresh leaves an open list where it is, and makes it anew
if (globalThis.Idiomorph) {
  Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) => !node.classList?.contains("card");
}

document.addEventListener("htmx:afterSettle", () => {
  for (const card of document.querySelectorAll(".card")) {
    const cell = card.closest(".went");
    if (cell.matches(":hover, :focus-within")) unfold(cell.querySelector(".where"));
    else card.remove();
  }
});
