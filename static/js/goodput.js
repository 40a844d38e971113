// The page works without this file. With it a refresh disturbs nobody, and says so when it cannot be had.
"use strict";

document.documentElement.classList.add("scripted");

const page = () => document.getElementById("page");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// --- a refresh leaves alone what a person has opened or is typing -------------------------------------------

const changed = new Set();

if (window.Idiomorph) {
  Idiomorph.defaults.ignoreActiveValue = true;
  Object.assign(Idiomorph.defaults.callbacks, {
    beforeAttributeUpdated: (name, element) => !(name === "open" && element.tagName === "DETAILS"),
    beforeNodeMorphed: (now, next) => {
      if (now.dataset && "kept" in now.dataset) return false;
      if (now.dataset && "n" in now.dataset && now.textContent !== next.textContent) changed.add(now);
      return true;
    },
  });
}

function isEdited(field) {
  const asked = new URLSearchParams(location.search).get(field.name) ?? "";
  return field.type !== "hidden" && field.value !== field.defaultValue && field.value !== asked;
}

function isBusyWithForm() {
  return [...document.querySelectorAll("main form input")].some(isEdited);
}

document.addEventListener("htmx:beforeRequest", (event) => {
  const isRefresh = event.detail.elt === page();
  if (isRefresh && !event.detail.requestConfig.triggeringEvent && (document.hidden || isBusyWithForm())) {
    event.preventDefault();
  }
});

// another page has a head of its own, so it is loaded as a whole
document.addEventListener("htmx:configRequest", (event) => {
  const { boosted, path, verb } = event.detail;
  const to = new URL(path, location.href);
  if (boosted && verb === "get" && to.pathname !== location.pathname) {
    event.preventDefault();
    location.assign(to);
  }
});

document.addEventListener("htmx:afterSettle", () => {
  for (const element of changed) {
    if (!calm.matches) element.animate([{ opacity: 0.2 }, { opacity: 1 }], { duration: 150 });
  }
  changed.clear();
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && page()?.hasAttribute("hx-get")) htmx.trigger(page(), "refresh");
});

document.addEventListener("htmx:afterRequest", (event) => {
  const { elt, successful } = event.detail;
  if (successful && elt.matches("details form")) elt.closest("details").open = false;
});

// --- back and forward ask the server, for a ledger has no past to be kept in the browser --------------------

document.addEventListener("htmx:historyCacheMiss", (event) => {
  event.preventDefault();
  htmx.trigger(page(), "refresh");
});

// --- when the server cannot be reached ------------------------------------------------------------------------

function say(text) {
  const line = document.getElementById("unreached");
  if (!line) return;
  line.textContent = text;
  line.hidden = !text;
}

function unreached() {
  const counted = document.getElementById("counted")?.textContent ?? "";
  say(`The server does not answer. What you see was ${counted}; it is tried again each minute.`);
}

document.addEventListener("htmx:sendError", unreached);
document.addEventListener("htmx:timeout", unreached);
document.addEventListener("htmx:responseError", unreached);
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.shouldSwap) say("");
});

// --- commands to copy -------------------------------------------------------------------------------------------

async function copy(button, text, shown) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    if (!shown) return location.assign(text);
    getSelection().selectAllChildren(shown);
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = label), 2000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-copy], [data-copy-link]");
  if (!button) return;
  if (button.dataset.copyLink) return copy(button, new URL(button.dataset.copyLink, location.href).href, null);
  const block = document.getElementById(button.dataset.copy);
  copy(button, block.textContent, block);
});

document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("details.custom[open], details.switch[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.activeElement?.closest("details.custom[open], details.switch[open]");
  if (open) {
    open.open = false;
    open.querySelector("summary").focus();
  }
});
