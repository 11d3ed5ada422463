// The player: one moment of the run, shown in all panels.

const UNITS = ["access", "request", "line", "interval", "launch"];
const byId = (id) => document.getElementById(id);
let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "muted", "line", "read", "write", "wrong", "empty", "paper", "panel"]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
}

class Player {
  constructor(run) {
    this.model = new Model(run);
    this.about = run.about;
    this.words = new Words(this.model);
    this.unit = "request";
    this.cursor = -1;
    this.root = -1;
    this.timer = 0;
    this.frame = 0;
    this.stats = { cells: 0, tiles: 0, milliseconds: 0 };
    byId("title").textContent = this.about.title;
    byId("window").textContent = this.about.window;
    byId("command").textContent = this.about.command;
    byId("verdict").textContent = this.about.verdict ?? "";
    byId("verdict").hidden = !this.about.verdict;
    if (this.about.back) { // [address, words]: to the page that this one belongs to
      const link = byId("back").firstElementChild;
      [link.href, link.textContent] = this.about.back;
      byId("back").hidden = false;
    }
    this.source = new SourcePanel(byId("source"), this.about, (place) => this.goToLine(place));
    this.lanes = new LanePanel(byId("lanes"), this.model, this.words);
    this.cost = new CostPanel(byId("cost"), this.model, this.words);
    this.findings = new FindingPanel(byId("findings"), this.model, this.words, (number) => this.openFinding(number));
    this.arrays = this.about.arrays.filter((array) => array.cells > 0).map((array) =>
      new ArrayView(this.model, this.words, array, (cell, follows) => this.pick(cell, follows)));
    // Shared memory first: it is what the steps are about.
    this.arrays.sort((a, b) => (a.array.space === "shared" ? 0 : 1) - (b.array.space === "shared" ? 0 : 1));
    byId("arrays").append(...this.arrays.map((view) => view.element));
    this.#connect();
    readColours();
    const link = location.hash;
    this.layOut();
    this.#open(link);
  }

  // --- controls ---

  #connect() {
    byId("scrubber").max = `${this.model.length - 1}`;
    byId("scrubber").oninput = (input) => this.goTo(Number(input.target.value));
    for (const [id, way] of [["back", -1], ["forward", 1]]) byId(id).onclick = () => this.step(way);
    byId("first").onclick = () => this.goTo(0);
    byId("last").onclick = () => this.goTo(this.model.length - 1);
    byId("play").onclick = () => this.play(!this.timer);
    byId("unit").onchange = (change) => this.setUnit(change.target.value);
    byId("follow").onclick = () => this.follow();
    byId("writer").onclick = () => this.goToWriter();
    byId("costly").onclick = () => this.goToCostly();
    byId("timeline").onclick = (press) => {
      const box = press.target.getBoundingClientRect();
      this.goTo(Math.round(((press.clientX - box.left) / box.width) * (this.model.length - 1)));
    };
    document.addEventListener("keydown", (press) => this.#key(press));
    window.addEventListener("resize", () => this.layOut());
    window.addEventListener("hashchange", () => this.#open(location.hash));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      readColours();
      this.layOut();
    });
  }

  #key(press) {
    const tag = press.target.tagName;
    if (!byId("keys").checked || press.altKey || press.ctrlKey || press.metaKey || tag === "SELECT") return;
    if (tag === "BUTTON" && (press.key === " " || press.key === "Enter")) return;
    const actions = {
      ArrowRight: () => this.step(1, press.shiftKey ? "access" : this.unit),
      ArrowLeft: () => this.step(-1, press.shiftKey ? "access" : this.unit),
      Home: () => this.goTo(0),
      End: () => this.goTo(this.model.length - 1),
      " ": () => this.play(!this.timer),
      f: () => this.follow(),
      w: () => this.goToWriter(),
      c: () => this.goToCostly(),
      g: () => this.openFinding((this.findings.chosen + 1) % this.about.findings.length),
    };
    for (const [i, unit] of UNITS.entries()) actions[`${i + 1}`] = () => this.setUnit(unit);
    const action = actions[press.key];
    if (!action || (press.key === "g" && !this.about.findings.length)) return;
    if (tag === "INPUT" && press.target.type === "checkbox" && press.key === " ") return;
    press.preventDefault();
    action();
  }

  setUnit(unit) {
    this.unit = unit;
    byId("unit").value = unit;
    this.draw();
  }

  play(starts) {
    clearInterval(this.timer);
    this.timer = 0;
    byId("play").setAttribute("aria-pressed", `${starts}`);
    byId("play").textContent = starts ? "Pause" : "Play";
    byId("sentence").setAttribute("aria-live", starts ? "off" : "polite");
    if (!starts) return;
    this.timer = setInterval(() => {
      const before = this.model.at;
      this.step(1);
      if (this.model.at === before) this.play(false);
    }, 1000 / Number(byId("speed").value));
  }

  step(way, unit = this.unit) {
    this.goTo(this.model.step(unit, way));
  }

  goTo(event) {
    this.model.moveTo(event);
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  // On to the next time that this line is executed; from the end, again from the beginning.
  goToLine(place) {
    const { length, requestEnd } = this.model;
    const { place: places } = this.model.columns;
    const wanted = new Set(this.about.places.flatMap(([source], i) => (source === place ? [i] : [])));
    for (let i = 1; i <= length; ++i) {
      const event = (requestEnd[this.model.at] + i) % length;
      if (wanted.has(places[event])) return this.goTo(requestEnd[event]);
    }
    return undefined;
  }

  // On to the next request that costs more than it would have to; from the end, again from the beginning.
  goToCostly() {
    const { at, length, requestEnd } = this.model;
    for (let left = length, event = requestEnd[at]; left > 0;) {
      const next = requestEnd[(event + 1) % length];
      left -= next > event ? next - event : next + 1;
      event = next;
      if (!this.model.isAccess(event)) continue;
      const { actual, ideal, isAtomic, space, turns } = costOf(this.model, this.model.request(event));
      if (isAtomic && space === "shared" ? turns > 1 : actual > ideal) return this.goTo(event);
    }
    return undefined;
  }

  openFinding(number) {
    const { events } = this.about.findings[number];
    this.findings.open(number, (event) => { this.setUnit("access"); this.goTo(event); });
    if (!events.length) return this.draw();
    if (this.about.findings[number].kind === "wrong result") this.cursor = this.model.columns.cell[events[0]];
    if (this.about.findings[number].race) this.setUnit("access");
    return this.goTo(Math.max(...events));
  }

  // --- one value ---

  pick(cell, follows) {
    this.cursor = cell;
    if (follows) this.follow(); else this.draw();
  }

  follow() {
    const root = this.cursor < 0 ? -1 : this.model.rootOf(this.cursor);
    this.root = root === this.root ? -1 : root;
    this.path = this.root < 0 ? [] : this.model.pathOf(this.root);
    this.#showPath();
    this.draw();
  }

  goToWriter() {
    const holder = this.cursor < 0 ? UNKNOWN : this.model.holders[this.cursor];
    if (holder > UNKNOWN) this.goTo(this.model.requestEnd[this.model.eventOfTouch[holder]]);
  }

  #showPath() {
    const list = byId("path");
    list.replaceChildren();
    byId("path-panel").hidden = this.root < 0;
    const most = 60;
    for (const event of (this.path ?? []).slice(0, most)) {
      const { kind } = this.model.columns;
      const item = document.createElement("li");
      const button = element("button", "link", kind[event] === EXCHANGE
        ? `${this.words.place(event)}: through a shuffle`
        : `${this.words.place(event)}: ${this.words.element(event)}${kind[event] === LOAD ? ", where it was" : ""}`);
      button.type = "button";
      button.onclick = () => this.goTo(this.model.requestEnd[event]);
      item.append(button);
      list.append(item);
    }
    const more = (this.path ?? []).length - most;
    if (more > 0) list.append(element("li", "", `and ${plural(more, "further move")}`));
  }

  // --- drawing ---

  layOut() {
    for (const view of this.arrays.filter((own) => !own.element.hidden)) {
      view.layOut();
      view.paint(true);
    }
    this.#drawTimeline();
    this.draw();
  }

  draw() {
    const start = performance.now();
    const { model, unit } = this;
    const event = model.at;
    const isAccess = model.isAccess(event);
    const events = isAccess ? model.request(event) : [];
    const cost = isAccess ? costOf(model, events) : null;
    const finding = this.about.findings[this.findings.chosen];
    const isThere = finding && finding.events.length && event >= Math.max(...finding.events);
    const waits = isThere && Object.keys(this.about.waits).length && !finding.race ? this.about.waits : null;
    this.stats.cells = 0;
    const marks = this.#marks(events, event);
    this.#showArrays(model.launchOf[event]);
    for (const view of this.arrays) {
      if (!view.element.hidden) this.stats.cells += view.update(marks, this.root, this.cursor);
    }
    byId("sentence").textContent = this.words.moment(event, unit, cost);
    this.stats.tiles = this.lanes.show(event, unit === "access" ? event : -1, waits);
    this.cost.show(event, cost);
    const [place, inner] = this.about.places[model.columns.place[event]];
    this.source.show([...(place ? [{ place, className: "current" }] : []), ...this.findings.marks()]);
    byId("inner").textContent = inner !== place && inner ? `in ${baseName(inner)}` : "";
    byId("scrubber").value = `${event}`;
    byId("scrubber").setAttribute("aria-valuetext", this.words.position(event));
    byId("position").textContent = this.words.position(event);
    byId("cell").textContent = this.cursor < 0
      ? "Choose an element of an array to see who wrote it last, and to follow its value."
      : this.words.cell(this.cursor);
    byId("follow").disabled = this.cursor < 0;
    byId("follow").setAttribute("aria-pressed", `${this.root >= 0}`);
    byId("writer").disabled = this.cursor < 0 || model.holders[this.cursor] <= UNKNOWN;
    this.#drawHead();
    this.#writeHash();
    this.stats.milliseconds = performance.now() - start;
  }

  // A __shared__ array exists only while its kernel runs.
  #showArrays(launch) {
    for (const view of this.arrays) {
      const isGone = view.array.space === "shared" && !view.array.launches.includes(launch);
      if (view.element.hidden === isGone) continue;
      view.element.hidden = isGone;
      if (isGone) continue;
      view.layOut();
      view.paint(true);
    }
  }

  // The cells of a request, or of one access and, paler, of the rest of its request.
  #marks(events, current) {
    const { cell, flags, kind, touches } = this.model.columns;
    const marks = new Map();
    const shown = new Set(events);
    const finding = this.about.findings[this.findings.chosen];
    if (finding?.race && finding.events.includes(current)) finding.events.forEach((event) => shown.add(event));
    for (const event of shown) {
      for (let k = 0; k < touches[event]; ++k) {
        const writes = kind[event] !== LOAD || Boolean(marks.get(cell[event] + k)?.writes);
        const wrong = Boolean(flags[event] & (RACES | FAULTY)) || Boolean(marks.get(cell[event] + k)?.wrong);
        const isPale = this.unit === "access" && event !== current && !finding?.events.includes(event);
        const signs = 1 + (writes ? 2 : 0) + (wrong ? 4 : 0) + (isPale ? 8 : 0);
        marks.set(cell[event] + k, { writes, wrong, isPale, signs });
      }
    }
    return marks;
  }

  #drawTimeline() {
    const canvas = byId("timeline");
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const { columns, length } = this.model;
    const x = (event) => (event / Math.max(1, length - 1)) * (width - 2) + 1;
    const launches = [];
    let lastTick = -9;
    for (let event = 0; event < length; ++event) {
      if (columns.kind[event] === LAUNCH) launches.push(event);
      if (columns.kind[event] !== BARRIER || x(event) - lastTick < 3) continue;
      lastTick = x(event);
      context.fillStyle = colours.line;
      context.fillRect(lastTick, height - 9, 1, 9);
    }
    launches.forEach((event, i) => {
      const end = launches[i + 1] ?? length - 1;
      context.fillStyle = i % 2 ? colours.empty : colours.panel;
      context.fillRect(x(event), 0, x(end) - x(event), height - 10);
      context.fillStyle = colours.muted;
      context.font = "11px system-ui, sans-serif";
      const name = this.about.launches[columns.cell[event]].kernel;
      if (context.measureText(name).width + 8 < x(end) - x(event)) context.fillText(name, x(event) + 4, 13);
    });
    for (const finding of this.about.findings) {
      if (!finding.events.length) continue;
      const at = x(Math.max(...finding.events));
      context.fillStyle = colours.wrong;
      context.beginPath();
      context.moveTo(at, height - 14);
      context.lineTo(at + 6, height - 7);
      context.lineTo(at, height);
      context.lineTo(at - 6, height - 7);
      context.fill();
    }
  }

  #drawHead() {
    byId("head").style.left = `${(100 * this.model.at) / Math.max(1, this.model.length - 1)}%`;
  }

  // --- links ---

  // Not at every frame: browsers limit how often a page may do that.
  #writeHash() {
    clearTimeout(this.hashTimer);
    this.hashTimer = setTimeout(() => {
      const parameters = new URLSearchParams({ ...this.about.run, moment: this.model.at, step_by: this.unit });
      history.replaceState(null, "", `#${parameters}`);
      byId("link").href = `#${parameters}`;
    }, 250);
  }

  #open(link) {
    const parameters = new URLSearchParams(link.slice(1));
    const others = Object.entries(this.about.run).filter(([name, value]) =>
      parameters.has(name) && parameters.get(name) !== `${value}`);
    byId("other-run").hidden = !others.length;
    if (others.length) {
      byId("other-run").textContent = "The link is to another run: " +
        others.map(([name]) => `${name} ${parameters.get(name)}`).join(", ") + ". This page shows the one below.";
    }
    const unit = parameters.get("step_by");
    if (UNITS.includes(unit)) this.setUnit(unit);
    const first = this.about.findings.findIndex((finding) => !finding.remark);
    if (!others.length && parameters.has("moment")) this.goTo(Number(parameters.get("moment")) || 0);
    else if (first >= 0) this.openFinding(first);
    else this.goTo(0);
  }
}

decodeRun(document.getElementById("events").textContent).then((run) => {
  window.player = new Player(run);
  document.documentElement.dataset.ready = "yes";
}).catch((error) => {
  byId("sentence").textContent = typeof DecompressionStream === "undefined"
    ? "This browser cannot open the page: it needs one from 2023 or later." : `The page is damaged: ${error.message}`;
  document.documentElement.dataset.ready = "failed";
});
