// Keeps a page as the cluster is. The server says that something has changed, the page is asked for again, and what differs in it is put into its
// place. Without this script a page stays as it was made. Nothing here decides what is shown.
"use strict";

const clock = document.getElementById("live");
const stream = document.body.dataset.stream;
let source = null;
let asking = false;
let askAgain = false;
let lost = null;

function say(text) {
  if (clock.textContent !== text) clock.textContent = text;
}

// sayLost says since when nobody answers.
function sayLost() {
  lost ??= new Date();
  say(`not connected since ${lost.toLocaleTimeString()}: is loadstone ui still running? What is shown may be old.`);
}

// put replaces a region, and keeps what its reader has opened, reached by keyboard or moved aside.
function put(region, by) {
  const opened = [...region.querySelectorAll("details[open][id]")].map((d) => d.id);
  const moved = [...region.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
  const reached = region.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  region.replaceChildren(...by.childNodes);
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  region.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = moved[i] ?? 0; });
  if (reached) [...region.querySelectorAll("a[href]")].find((a) => a.getAttribute("href") === reached)?.focus({ preventScroll: true });
}

async function refresh() {
  if (asking) {
    askAgain = true;
    return;
  }
  asking = true;
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const region of document.querySelectorAll("[data-live]")) {
      const by = next.querySelector(`[data-live="${region.dataset.live}"]`) ?? document.createElement("div");
      if (region.innerHTML !== by.innerHTML) put(region, by);
    }
    document.title = next.title;
    lost = null;
    say("live");
  } catch {
    sayLost();
  }
  asking = false;
  if (askAgain) {
    askAgain = false;
    refresh();
  }
}

// A page that nobody sees hears nothing: browsers keep few streams open.
function listen() {
  source?.close();
  source = null;
  if (document.hidden || !stream) return;
  source = new EventSource(stream);
  source.addEventListener("open", refresh);
  source.addEventListener("changed", refresh);
  source.addEventListener("error", sayLost);
}

document.addEventListener("visibilitychange", listen);
listen();
