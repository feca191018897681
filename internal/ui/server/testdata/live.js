// Plays a browser around the script of the pages, whose file is the only argument, and looks at what its clock says after each thing that happens.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const vm = require("node:vm");

const script = fs.readFileSync(process.argv[2], "utf8");
const page = (alert) => `<p id="live"></p>${alert ? '<div role="alert">' : ""}`;
const live = { status: 200, text: page(false) };
const away = null;
const never = {};

// newBrowser has opened a page. What the server answers from now on is its field answer; null for nothing.
function newBrowser() {
  const b = { answer: live, sources: [], timers: [], put: 0, asked: 0, signals: [], clock: { textContent: "as of 12:00:00 UTC" }, listeners: {}, hidden: false };
  const region = { dataset: { live: "page" }, innerHTML: "old", contains: () => false, querySelectorAll: () => [], replaceChildren: () => { b.put++; } };
  class EventSource {
    static CLOSED = 2;
    constructor() { this.readyState = 0; this.on = {}; b.sources.push(this); }
    addEventListener(kind, act) { this.on[kind] = act; }
    close() { this.readyState = 2; }
  }
  const document = {
    body: { dataset: { stream: "/events" } }, get hidden() { return b.hidden; },
    getElementById: (id) => (id === "live" ? b.clock : null), querySelectorAll: () => [region],
    addEventListener: (kind, act) => { b.listeners[kind] = act; },
  };
  class DOMParser {
    parseFromString(text) {
      return {
        title: "page", getElementById: (id) => (text.includes(`id="${id}"`) ? {} : null),
        querySelector: (what) => (what === "[role=alert]" ? (text.includes('role="alert"') ? {} : null) : { innerHTML: text, childNodes: [] }),
      };
    }
  }
  const fetch = async (_, { signal }) => {
    b.asked++;
    if (b.answer === never) return new Promise((_, reject) => { signal.late = () => reject(new Error("it takes too long")); });
    if (!b.answer) throw new TypeError("nobody answers");
    return { ok: b.answer.status < 400, status: b.answer.status, text: async () => b.answer.text };
  };
  const AbortSignal = { timeout: (ms) => { const signal = { ms }; b.signals.push(signal); return signal; } };
  const setTimeout = (act, ms) => b.timers.push({ act, ms });
  const clearTimeout = (n) => { if (n) b.timers[n - 1] = null; };
  vm.runInNewContext(script, { document, location: { href: "/" }, EventSource, DOMParser, fetch, AbortSignal, setTimeout, clearTimeout, Date, Error });
  // happens lets a thing happen to the newest stream, and the script come to rest.
  b.happens = async (kind, closed) => {
    const source = b.sources.at(-1);
    source.readyState = closed ? 2 : kind === "error" ? 0 : 1;
    source.on[kind]();
    await rest();
  };
  // waits lets all waiting come to its end that is no longer than so many ms.
  b.waits = async (most = 10000) => {
    const due = b.timers.filter((t) => t && t.ms <= most);
    b.timers = b.timers.map((t) => (due.includes(t) ? null : t));
    for (const t of due) t.act();
    await rest();
  };
  b.says = (want) => assert.match(b.clock.textContent, want);
  return b;
}

const rest = () => new Promise((resolve) => setImmediate(resolve));

const stories = {
  "nothing is said of a stream that is opened anew at once": async (b) => {
    b.says(/^as of/);
    await b.happens("error");
    b.says(/^as of/);
    await b.happens("open");
    b.says(/^live$/);
    await b.happens("error");
    b.says(/^live$/);
    await b.waits();
    b.says(/^live$/);
  },
  "a server that is gone is told of, and its return": async (b) => {
    await b.happens("open");
    b.answer = away;
    await b.happens("error");
    await b.waits();
    b.says(/^live$/);
    await b.waits();
    b.says(/^not connected since .*What is shown may be old\.$/);
    b.answer = live;
    await b.happens("open");
    b.says(/^live$/);
  },
  "a cluster that does not answer is not live": async (b) => {
    await b.happens("open");
    b.answer = { status: 502, text: page(false) };
    await b.happens("changed");
    b.says(/^not live: the page says why$/);
    b.answer = { status: 200, text: page(true) };
    await b.happens("changed");
    b.says(/^not live: the page says why$/);
    b.answer = { status: 404, text: page(false) };
    await b.happens("changed");
    b.says(/^live$/);
  },
  "an answer of somebody else replaces nothing": async (b) => {
    await b.happens("open");
    const put = b.put;
    b.answer = { status: 502, text: "<h1>Bad Gateway</h1>" };
    await b.happens("error", true);
    await b.waits();
    await b.waits();
    b.says(/^not connected since/);
    assert.equal(b.put, put);
  },
  "a stream that the browser gives up is opened anew": async (b) => {
    await b.happens("error", true);
    assert.equal(b.sources.length, 1);
    await b.waits();
    assert.equal(b.sources.length, 2);
  },
  "an answer that never comes is given up": async (b) => {
    await b.happens("open");
    b.answer = never;
    await b.happens("changed");
    for (let i = 0; i < 2; i++) {
      b.signals.at(-1).late();
      await rest();
      await b.waits();
    }
    b.says(/^not connected since/);
    b.answer = live;
    b.signals.at(-1).late();
    await rest();
    await b.waits();
    b.says(/^live$/);
  },
  "a stream that says nothing for long is not believed": async (b) => {
    await b.happens("open");
    const asked = b.asked;
    await b.waits(150000);
    assert.equal(b.asked, asked + 1);
    b.answer = away;
    await b.waits(150000);
    await b.waits();
    b.says(/^not connected since/);
  },
  "a page that nobody sees asks for nothing": async (b) => {
    await b.happens("open");
    b.answer = away;
    await b.happens("changed");
    b.hidden = true;
    b.listeners.visibilitychange();
    await b.waits();
    b.says(/^live$/);
    assert.equal(b.sources.length, 1);
  },
};

(async () => {
  for (const [name, story] of Object.entries(stories)) {
    try {
      await story(newBrowser());
    } catch (e) {
      console.error(`${name}: ${e.message}`);
      process.exitCode = 1;
    }
  }
})();
