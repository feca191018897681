// Loadstone's wrapper of one cell. Above it stand `cell`, `options`, `says` and `kept` (names of metrics) and `user`, the user's script or null.

const root = (cell.tls ? 'https://' : 'http://') + __ENV.LOADSTONE_TARGET;
const mixed = cell.sequence.length > 0;
const asks = cell.requests.map((r, i) => {
  const params = { redirects: 0, responseType: r.body === null ? 'none' : 'text', throw: true, timeout: cell.timeoutMillis, headers: r.headers };
  if (mixed) params.tags = { request: String(i) };
  return { method: r.method, url: root + r.path, sent: r.sent, status: r.status, body: r.body, params };
});

const threw = new Counter('loadstone_threw');
const wrongBody = cell.requests.every((r) => r.body === null) ? null : new Counter('loadstone_wrong_body');
const withConnection = cell.perRequest ? new Trend('loadstone_with_connection', true) : null;
const begun = cell.open === null ? null : new Counter('loadstone_begun');
const extra = cell.open === null ? null : new Counter('loadstone_extra');
const fromIntended = cell.open === null ? null : new Trend('loadstone_from_intended', true);
const clockError = cell.open === null ? null : new Trend('loadstone_clock_error', true);
const leastLate = cell.open === null ? null : new Trend('loadstone_least_late', true);

// What setup, teardown and the summary need is made once: __VU is 0 for them, and a thousand virtual users read this script too.
const said = {};
if (__VU === 0) {
  for (const name of says) said[name] = new Gauge('loadstone_' + name);
}

if (user !== null && typeof user.default !== 'function') throw new Error('the script exports no default function: add "export default function () { ... }"');

// Of the wrapper's own requests each answer is expected here: statuses are told apart by their tag. Of a script's, one below 400 is.
http.setResponseCallback(http.expectedStatuses({ min: 100, max: user === null ? 999 : 399 }));

// Each reading of these two from k6 makes an object with a dozen getters anew. Nothing of them exists before an iteration.
let instance = null;
let scenario = null;

// now is k6's own clock in milliseconds, with a resolution below a microsecond; Date has whole milliseconds only.
function now() {
  return instance.currentTestRunDuration;
}

// zero is the earliest instant at which the scenario can have begun, by this clock. It is found once in each virtual user.
let zero = null;
let late = Infinity;

function calibrate(durationMillis) {
  let width = Infinity;
  for (let i = 0; i < 20 && width > 0.02; i++) {
    const before = now();
    const elapsed = scenario.progress * durationMillis;
    const after = now();
    if (after - before < width && elapsed < durationMillis) {
      width = after - before;
      zero = before - elapsed;
    }
  }
  if (zero === null) {
    // The progress says nothing once the scenario's time is over: whole milliseconds must do.
    const before = now();
    zero = before - (Date.now() - scenario.startTime + 1);
    width = now() - before + 2;
  }
  clockError.add(width);
}

// intended is when the rate wanted iteration n, from 0, in milliseconds from the start of the scenario: k6's own timetable.
function intended(n) {
  const o = cell.open;
  if (!o.ramp) return (n * Math.floor(1e9 / o.rate)) / 1e6;
  const slope = (o.rateEnd - o.rate) / o.seconds;
  return (2000 * (n + 1)) / (o.rate + Math.sqrt(Math.max(0, o.rate * o.rate + 2 * slope * (n + 1))));
}

// look reads the two, once in each virtual user.
function look() {
  if (scenario === null) {
    instance = exec.instance;
    scenario = exec.scenario;
  }
}

function begin() {
  begun.add(1);
  const end = cell.open.seconds * 1000;
  look();
  const start = intended(scenario.iterationInTest);
  if (start > end - 0.001) {
    extra.add(1); // k6 may start one more at the very end, where its timer and its deadline meet.
    return null;
  }
  if (zero === null) calibrate(end);
  const due = zero + start;
  if (cell.open.ramp && now() - due < late) {
    late = now() - due;
    leastLate.add(late);
  }
  return due;
}

// next is the request of this iteration: k6 numbers those of all virtual users in the order in which they begin.
function next() {
  if (!mixed) return asks[0];
  look();
  return asks[cell.sequence.charCodeAt(scenario.iterationInTest % cell.sequence.length) - 97];
}

function request() {
  const ask = next();
  let answer;
  try {
    answer = http.request(ask.method, ask.url, ask.sent, ask.params);
  } catch (e) {
    return false; // k6 has counted it, with its kind.
  }
  if (ask.body !== null && answer.status === ask.status && answer.body !== ask.body) wrongBody.add(1);
  if (cell.perRequest) withConnection.add(answer.timings.connecting + (cell.tls ? answer.timings.tls_handshaking : 0) + answer.timings.duration);
  return true;
}

let told = false;

// failed counts what a script throws, and lets k6 print the first in each virtual user.
function failed(e) {
  threw.add(1);
  if (!told) {
    told = true;
    throw e;
  }
}

function finish(due) {
  if (due !== null) fromIntended.add(now() - due);
}

export default function (data) {
  const due = cell.open !== null && __ENV.LOADSTONE_PURPOSE === 'Measure' ? begin() : null;
  if (user === null) {
    if (request()) finish(due);
    return;
  }
  try {
    const promise = user.default(data);
    if (promise && typeof promise.then === 'function') return promise.then(() => finish(due), failed);
  } catch (e) {
    failed(e);
    return;
  }
  finish(due);
}

function millis(text) {
  const unit = { h: 3600000, m: 60000, s: 1000, ms: 1 };
  let sum = 0;
  for (const part of text.matchAll(/([\d.]+)(ms|h|m|s)/g)) sum += Number(part[1]) * unit[part[2]];
  return sum;
}

// report says what k6 runs by its own account, not what it was asked for.
function report() {
  const runs = exec.test.options.scenarios.load;
  const stage = runs.stages ? runs.stages[0] : runs;
  said.vus.add(exec.instance.vusInitialized);
  said.threads.add(Number(runs.env.LOADSTONE_THREADS));
  said.duration.add(millis(stage.duration || runs.maxDuration));
  said.grace.add(millis(runs.gracefulStop));
  said.iterations.add(runs.iterations || 0);
  said.rate.add(runs.rate || runs.startRate || 0);
  said.rate_end.add(runs.stages ? stage.target : runs.rate || 0);
}

export function setup() {
  report();
  const data = user !== null && user.setup ? user.setup() : undefined;
  said.setup.add(exec.instance.currentTestRunDuration);
  return data;
}

export function teardown(data) {
  const before = Date.now();
  if (user !== null && user.teardown) user.teardown(data);
  said.teardown.add(Date.now() - before);
}

export function handleSummary(data) {
  const metrics = {};
  for (const name in data.metrics) {
    const { type, values } = data.metrics[name];
    if (!kept.includes(name)) continue;
    metrics[name] = type === 'trend' ? { count: values.count, quantiles: data.options.summaryTrendStats.map((s) => values[s]) } : values;
  }
  const summary = { format: 1, script: user !== null, perRequest: cell.perRequest, http2: cell.http2 === true, status: mixed ? 0 : asks[0].status, statuses: mixed ? asks.map((a) => a.status) : [], stats: data.options.summaryTrendStats, millis: data.state.testRunDurationMs, metrics };
  return { stdout: '\nloadstone ' + JSON.stringify(summary) + '\n' };
}
