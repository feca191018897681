// Keeps a page as the cluster is. The server says that something has changed, the page is asked for again, and what differs in it is put into its
// place. Without this script a page stays as it was made. Nothing here decides what is shown.
"use strict";

const clock = document.getElementById("live");
const stream = document.body.dataset.stream;
let source = null;
let asking = false;
let askAgain = false;
let lost = null;
let later = null;

// patience is how long, in ms, a stream may be shut before the page is asked for without it: a browser opens another by itself.
const patience = 2500;
// deadline is how long, in ms, an answer may take, and silence how long a stream may say nothing: the server says each minute that ages have grown.
const deadline = 20000;
const silence = 150000;
let watch = null;

function say(text) {
  if (clock.textContent !== text) clock.textContent = text;
}

// sayLost says since when nobody answers, if that is so twice: a page that is left loses its requests, too.
function sayLost() {
  if (lost) say(`not connected since ${lost.toLocaleTimeString()}: is loadstone ui still running? What is shown may be old.`);
  lost ??= new Date();
}

// sayOf says whether an answer is the page as the cluster is.
function sayOf(answer, next) {
  const made = answer.ok || answer.status === 404;
  say(made && !next.querySelector("[role=alert]") ? "live" : "not live: the page says why");
}

// nameOf names what the keyboard can reach, in a way that holds when it has been replaced.
function nameOf(stop) {
  return stop.tagName + (stop.getAttribute("href") ?? stop.getAttribute("aria-label") ?? stop.parentElement.id);
}

// named are all of that name that the keyboard can reach in a region: links of several rows may lead to the same page.
function named(name, region) {
  return [...region.querySelectorAll("a[href], summary, [tabindex='0']")].filter((stop) => nameOf(stop) === name);
}

// put replaces a region, and keeps what its reader has opened, reached by keyboard or moved aside.
function put(region, by) {
  const opened = [...region.querySelectorAll("details[open][id]")].map((d) => d.id);
  const moved = [...region.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
  const reached = region.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  const which = reached ? named(reached, region).indexOf(document.activeElement) : -1;
  region.replaceChildren(...by.childNodes);
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  region.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = moved[i] ?? 0; });
  if (reached) (named(reached, region)[which] ?? named(reached, region).at(-1))?.focus({ preventScroll: true });
}

async function refresh() {
  if (asking) {
    askAgain = true;
    return;
  }
  asking = true;
  try {
    const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(deadline) });
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!next.getElementById("live")) throw new Error("an answer of somebody else");
    for (const region of document.querySelectorAll("[data-live]")) {
      const by = next.querySelector(`[data-live="${region.dataset.live}"]`) ?? document.createElement("div");
      if (region.innerHTML !== by.innerHTML) put(region, by);
    }
    document.title = next.title;
    lost = null;
    sayOf(answer, next);
  } catch {
    sayLost();
    askLater();
  }
  asking = false;
  if (askAgain) {
    askAgain = false;
    refresh();
  }
}

// askLater asks for the page in a while, unless the stream is open by then. Browsers give up a stream whose answer was none: another is opened.
function askLater() {
  later ??= setTimeout(() => {
    later = null;
    if (document.hidden) return;
    if (source?.readyState === EventSource.CLOSED) listen();
    refresh();
  }, patience);
}

// attend asks for the page when nothing has been heard for long: a stream may be dead and look open.
function attend() {
  clearTimeout(watch);
  watch = document.hidden ? null : setTimeout(() => {
    attend();
    refresh();
  }, silence);
}

function heard() {
  attend();
  clearTimeout(later);
  later = null;
  refresh();
}

// A page that nobody sees hears nothing: browsers keep few streams open.
function listen() {
  source?.close();
  source = null;
  clearTimeout(later);
  later = null;
  clearTimeout(watch);
  if (document.hidden || !stream) return;
  attend();
  source = new EventSource(stream);
  source.addEventListener("open", heard);
  source.addEventListener("changed", () => {
    attend();
    refresh();
  });
  source.addEventListener("error", askLater);
}

document.addEventListener("visibilitychange", listen);
listen();
