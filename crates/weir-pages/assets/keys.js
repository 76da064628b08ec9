// Keys for the pages of `weir ui`. Pages work without this file. No key changes or removes anything: it moves, opens,
// or puts the focus on the button that does.
"use strict";

const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility());
const aim = (row) => row.querySelector("a[href], summary") ?? row;
const isTyping = (target) => target.closest("input, textarea, select") !== null;
let current = -1;
let isGoing = false;

function move(step) {
  const all = rows();
  if (all.length === 0) return;
  current = Math.min(Math.max(current + step, 0), all.length - 1);
  aim(all[current]).focus();
  all[current].scrollIntoView({ block: "nearest" });
}

// A link or a fold is followed; a field or a button of a form only gets the focus.
function act(key) {
  const selector = `[data-key="${CSS.escape(key)}"]`;
  const target = rows()[current]?.querySelector(selector) ?? document.querySelector(selector);
  if (target === null) return false;
  for (let fold = target.parentElement.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    if (!target.matches("summary") || fold !== target.parentElement) fold.open = true;
  }
  if (target.matches("a, summary")) target.click();
  else target.focus();
  return true;
}

function copy() {
  const place = rows()[current] ?? document;
  const target = place.querySelector?.("[data-copy]") ?? document.querySelector("[data-copy]");
  if (target) navigator.clipboard?.writeText(target.dataset.copy);
  return target !== null;
}

function go(letter) {
  document.querySelector(`[data-go="${CSS.escape(letter)}"]`)?.click();
}

function search() {
  const field = document.querySelector("#q");
  if (field) field.focus();
  else document.querySelector("[data-search]")?.click();
}

function press(key) {
  if (isGoing) {
    isGoing = false;
    go(key);
    return true;
  }
  switch (key) {
    case "j": move(1); return true;
    case "k": move(-1); return true;
    case "o": rows()[current] && aim(rows()[current]).click(); return true;
    case "g": isGoing = true; return true;
    case "y": return copy();
    case "/": search(); return true;
    case "?": document.querySelector("dialog.all-keys")?.showModal(); return true;
    default: return act(key);
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key.length === 1 && press(event.key)) event.preventDefault();
});

for (const hint of document.querySelectorAll("[data-hint]")) hint.hidden = false;
