// The panel "Your work": the state of the steps, hints, and what the command says. The server sends the whole state
// again whenever something has changed, so that a window that was away misses nothing.

const panel = document.getElementById("work");
const { lab, home } = panel.dataset;
const byId = (id) => document.getElementById(id);
const made = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

let source = null;
let asked = 0; // the job that this window has started
let seen = {}; // the state that is shown, by step, so that only what has changed is drawn again

async function request(what, step = null) {
  const answer = await fetch(`${home}/do`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ what, lab, step }),
  }).catch(() => null);
  if (!answer?.ok) return say("failed", "The server did not answer. Is ./workbook open still running?");
  asked = (await answer.json()).job || asked;
}

function say(kind, text) {
  const status = byId("status");
  if (status.textContent === text && status.className === kind) return;
  status.className = kind;
  status.textContent = text;
}

// Text in which "labs/03-bitonic/02_shared.cu:86" is a link to that line.
function linked(text) {
  const pieces = text.split(/((?:labs|common)\/[\w./-]+\.(?:cuh?|h):\d+)/);
  return pieces.map((piece, i) => {
    if (i % 2 === 0) return piece;
    const [file, line] = piece.split(":");
    return made("a", { href: `${home}/${file}.html#L${line}`, textContent: piece });
  });
}

const classOf = (verdict) => (/^passed/.test(verdict) ? "passed" : /^(failed|over)/.test(verdict) ? "failed" : "");

function buttonsOf(step) {
  const button = (words, what) =>
    made("button", { type: "button", textContent: words, onclick: () => request(what, step.number) });
  const buttons = [button("Check", "check")];
  if (step.hints.length < step.of) buttons.push(button(step.hints.length ? "Next hint" : "Hint", "hint"));
  buttons.push(button("Play a run", "play"));
  if (step.failed) buttons.push(button("Play the case that failed", "play-case"));
  return made("p", { className: "buttons" }, ...buttons);
}

function fill(body, step) {
  const focused = [...body.querySelectorAll("button")].find((button) => button === document.activeElement)?.textContent;
  body.replaceChildren(made("p", { textContent: step.idea }), buttonsOf(step));
  if (step.player) {
    const words = { href: `${home}/${step.player}`, target: "_blank", rel: "noopener", textContent: "The last run" };
    body.append(made("p", {}, made("a", words), " in the player"));
  }
  step.hints.forEach((hint, i) => {
    const text = made("div", { innerHTML: hint });
    body.append(made("div", { className: "hint" }, made("h4", { textContent: `Hint ${i + 1} of ${step.of}` }), text));
  });
  if (!step.of) body.append(made("p", { textContent: "There are no hints for this step." }));
  const again = [...body.querySelectorAll("button")];
  if (focused) (again.find((button) => button.textContent === focused) ??
    again.find((button) => /hint/i.test(button.textContent) && /hint/i.test(focused)) ?? again[0]).focus();
}

function showSteps(steps) {
  for (const step of steps) {
    const look = JSON.stringify(step);
    const before = seen[step.number];
    if (before?.look === look) continue;
    if (!before) {
      const verdict = made("span");
      const body = made("div");
      const name = made("span", { className: "name", textContent: step.name });
      const fold = made("details", { id: `step-${step.number}` }, made("summary", {}, name, verdict), body);
      byId("steps").append(fold);
      seen[step.number] = { fold, verdict, body };
    }
    const own = seen[step.number];
    if (before && own.hints < step.hints.length) byId("said").textContent = `Hint ${step.hints.length} of ${step.of} is shown.`;
    Object.assign(own, { look, hints: step.hints.length });
    const lookOfVerdict = `verdict ${classOf(step.verdict)}`;
    if (before && classOf(step.verdict) === "failed" && own.verdict.className !== lookOfVerdict) own.fold.open = true;
    own.verdict.className = lookOfVerdict;
    own.verdict.textContent = step.verdict;
    fill(own.body, step);
  }
  if (!panel.querySelector("details[open]")) { // the first that has not passed
    const next = steps.find((step) => classOf(step.verdict) !== "passed");
    if (next && !seen.opened) seen[next.number].fold.open = true;
    seen.opened = true;
  }
}

function showJob(job, next) {
  byId("stop").hidden = !job?.running;
  if (!job) return;
  const log = byId("log");
  if (log.look !== job.text) {
    const isAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
    log.look = job.text;
    log.replaceChildren(...linked(job.text));
    if (job.running && isAtEnd) log.scrollTop = log.scrollHeight;
    if (!job.running) { // to what is to be fixed, or to the end
      const at = job.ok ? -1 : job.text.search(/^(FAILED|OVER)/m);
      log.scrollTop = log.scrollHeight * (at < 0 ? 1 : at / job.text.length);
    }
  }
  if (job.running) say("running", `${job.title} ...${next.length ? ` Next: ${next.join(", ")}` : ""}`);
  else say(job.stopped ? "" : job.ok ? "passed" : "failed", `${job.title}: ${job.result}`);
  byId("play-case").hidden = job.failed === null;
  byId("play-case").onclick = () => request("play-case", job.failed);
  byId("ready").hidden = !(job.player && job.ok);
  if (!job.player || !job.ok) return;
  byId("player").href = `${home}/${job.player}`;
  if (job.number === asked && !job.running) {
    asked = 0;
    if (/play/i.test(document.activeElement?.textContent ?? "")) byId("player").focus();
  }
}

function showLabs(labs) {
  const rows = labs.map(({ name, passed, steps, address }) =>
    made("li", {}, made("a", { href: `${home}/${address}`, textContent: name }),
      ` ${passed} of ${plural(steps, "step")} passed`));
  byId("steps").replaceChildren(made("ul", {}, ...rows));
  say("", "Choose a lab.");
}

function connect() {
  if (source) return;
  source = new EventSource(`${home}/events?lab=${lab}`);
  source.onmessage = (message) => {
    const state = JSON.parse(message.data);
    if (!lab) return showLabs(state.labs);
    if (!state.job) say("", "Waiting for a file to be saved.");
    showSteps(state.steps);
    showJob(state.job, state.next);
  };
  source.onerror = () => say("failed", "The connection is lost. Is ./workbook open still running?");
}

if (lab) {
  byId("check-all").onclick = () => request("check");
  byId("stop").onclick = () => request("stop");
}
// A browser keeps few connections to one server open. A window that nobody sees needs none.
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") return connect();
  source?.close();
  source = null;
});
connect();
