// The panels beside the arrays: source, lanes, banks or sectors, findings.

const element = (tag, className, text = "") => {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
};

const LETTERS = 5; // that fit into the tile of a lane

class SourcePanel {
  // `onLine(file, line)`: a line's number was pressed.
  constructor(panel, about, onLine) {
    this.panel = panel;
    this.about = about;
    this.onLine = onLine;
    this.name = panel.querySelector(".file");
    this.code = panel.querySelector(".code");
    this.file = null;
    this.known = new Set(about.places.map(([source]) => source));
    this.marked = [];
  }

  open(file) {
    if (file === this.file) return;
    this.file = file;
    this.name.textContent = file || "no source";
    this.code.replaceChildren();
    const own = this.about.files[file];
    if (!own) return this.code.append(element("p", "missing", "This file was not found, so only its lines are named."));
    this.rows = own.lines.map((html, i) => {
      const line = own.first + i;
      const row = element("div", "row");
      const isKnown = this.known.has(`${file}:${line}`);
      const number = element(isKnown ? "button" : "span", "number", `${line}`);
      if (isKnown) {
        number.type = "button";
        number.setAttribute("aria-label", `go on to line ${line}`);
        number.onclick = () => this.onLine(`${file}:${line}`);
      }
      const text = element("code", "text");
      text.innerHTML = html || " ";
      row.append(number, text);
      return row;
    });
    this.first = own.first;
    this.code.append(...this.rows);
  }

  // `marks`: [{place, className, label}], the one to show first.
  show(marks) {
    const file = marks.length ? marks[0].place.replace(/:\d*$/, "") : this.file;
    this.open(file);
    for (const row of this.marked) {
      row.className = "row";
      row.removeAttribute("aria-current");
    }
    this.code.querySelectorAll(".label").forEach((label) => label.remove());
    this.marked = [];
    for (const { place, className, label } of marks) {
      const row = place.startsWith(`${file}:`) ? this.rows?.[Number(lineOf(place)) - this.first] : undefined;
      if (!row) continue;
      row.classList.add(...className.split(" "));
      if (className.includes("current")) row.setAttribute("aria-current", "true");
      if (label) row.after(element("p", "label", label));
      this.marked.push(row);
    }
    const row = this.marked[0];
    if (!row || row === this.shown) return;
    this.shown = row;
    const top = row.offsetTop;
    const { scrollTop, clientHeight } = this.code;
    if (top < scrollTop + 40 || top > scrollTop + clientHeight - 60) this.code.scrollTop = top - clientHeight / 2;
  }
}

class LanePanel {
  constructor(panel, model, words) {
    Object.assign(this, { panel, model, words });
    this.title = panel.querySelector("h2");
    this.list = panel.querySelector("ul");
    this.tiles = Array.from({ length: LANES }, (_, lane) => {
      const tile = element("li", "lane");
      tile.append(element("span", "who", `${lane}`), element("span", "value"), element("span", "what"));
      this.list.append(tile);
      return tile;
    });
  }

  #fill(lane, className, value, what, sentence) {
    const tile = this.tiles[lane];
    const look = `${className} ${value} ${what} ${sentence}`;
    if (tile.look === look) return 0;
    tile.look = look;
    tile.className = `lane ${className}`;
    tile.children[1].textContent = value;
    tile.children[2].textContent = what;
    tile.setAttribute("aria-label", `lane ${lane} ${sentence}`);
    return 1;
  }

  // Returns how many tiles were changed. `waits`: {thread: place} of a block that failed, or null.
  show(event, current, waits) {
    const { model, words } = this;
    const warp = Math.max(0, model.warpOf(event));
    const told = new Map();
    if (model.isAccess(event)) {
      for (const e of model.request(event)) told.set(model.columns.thread[e] % LANES, this.#ofAccess(e, e === current));
    } else if (model.columns.kind[event] >= EXCHANGE) {
      this.#ofMeeting(event, told);
    }
    const { block } = model.about.launches[Math.max(0, model.launchOf[event])] ?? { block: [32, 1, 1] };
    const threads = block[0] * block[1] * block[2];
    this.title.textContent = model.warpOf(event) < 0 ? "Lanes" : `Warp ${warp} of ${words.block(event)}`;
    let changed = 0;
    for (let lane = 0; lane < LANES; ++lane) {
      const thread = warp * LANES + lane;
      const waitsAt = waits?.[thread];
      const idle = thread >= threads ? ["none", "", "", "does not exist"]
        : waitsAt ? ["waits", "waits", `:${lineOf(waitsAt)}`, `waits at ${baseName(waitsAt)}`]
          : ["idle", "", "", "takes no part"];
      changed += this.#fill(lane, ...(told.get(lane) ?? idle));
    }
    return changed;
  }

  #ofAccess(event, isCurrent) {
    const { model, words } = this;
    const { flags, kind } = model.columns;
    const way = kind[event] === LOAD ? "reads" : kind[event] === STORE ? "writes" : "changes";
    const wrong = flags[event] & (RACES | FAULTY) ? " wrong" : "";
    const before = kind[event] === ATOMIC ? `${model.accessText(event, true)}→` : "";
    const [text, both] = [model.accessText(event), before + model.accessText(event)];
    const value = flags[event] & OUTSIDE ? "?" : both.length <= LETTERS ? both : short(text, LETTERS);
    const index = `${model.indexOfAccess(event)}`;
    const sentence = `${words.verb(kind[event])} ${words.element(event)}: ${words.value(event)}`;
    return [`${way}${wrong}${isCurrent ? " current" : ""}`, value, index.length > 2 ? index : `[${index}]`, sentence];
  }

  #ofMeeting(event, told) {
    const { words } = this;
    const { lanes, name, sources, values, results } = this.model.about.exchanges[this.model.columns.cell[event]];
    lanes.forEach((lane, i) => {
      if (!values.length) return told.set(lane, ["meets", "", "", `is at ${name}()`]);
      const from = sources.length ? ` from lane ${sources[i]}` : "";
      const result = words.bits(results[i], name);
      told.set(lane, ["meets", short(result, LETTERS), from && `←${sources[i]}`,
        `offers ${words.bits(values[i])}, gets ${result}${from}`]);
    });
  }
}

class CostPanel {
  constructor(panel, model, words) {
    Object.assign(this, { panel, model, words });
    this.title = panel.querySelector("h2");
    this.text = panel.querySelector(".cost-text");
    this.body = panel.querySelector(".cost");
  }

  // `cost`: of the request; null for another event.
  show(event, cost) {
    this.body.replaceChildren();
    this.body.className = "cost";
    if (!cost) {
      const isShuffle = this.model.columns.kind[event] === EXCHANGE &&
        this.model.about.exchanges[this.model.columns.cell[event]].sources.length;
      this.panel.hidden = !isShuffle;
      if (isShuffle) this.#exchange(event);
      return;
    }
    this.panel.hidden = false;
    this.text.textContent = this.words.cost(cost);
    this.text.classList.toggle("over", cost.actual > cost.ideal);
    if (cost.space === "shared") this.#banks(cost); else this.#sectors(cost);
  }

  #banks({ rows, ideal }) {
    this.title.textContent = "Banks of shared memory";
    for (const half of [0, 1]) {
      const table = element("table", "banks");
      const side = element("div", "half");
      side.append(table);
      table.innerHTML = `<caption class="unseen">Lanes that each bank serves, one row per wavefront</caption>`;
      const head = table.createTHead().insertRow();
      for (let bank = 16 * half; bank < 16 * half + 16; ++bank) {
        const cell = element("th", "", `${bank}`);
        cell.scope = "col";
        head.append(cell);
      }
      const body = table.createTBody();
      rows.forEach((row, wavefront) => {
        const line = body.insertRow();
        for (let bank = 16 * half; bank < 16 * half + 16; ++bank) {
          const lanes = row.get(bank);
          const cell = line.insertCell();
          cell.className = lanes ? (wavefront < ideal ? "served" : "again") : "";
          cell.textContent = !lanes ? "" : lanes.length > 1 ? `${lanes[0]}+` : `${lanes[0]}`;
          if (lanes) cell.title = `wavefront ${wavefront}, bank ${bank}: lanes ${lanes.join(", ")}`;
        }
      });
      this.body.append(side);
    }
  }

  #sectors({ moved, begin }) {
    this.title.textContent = "Sectors of global memory";
    this.body.classList.add("flow");
    for (const { sector, words } of moved) {
      const box = element("div", "sector");
      const used = words.filter((lanes) => lanes.length).length;
      box.append(element("span", "at", `byte ${sector * SECTOR - begin}`));
      const row = element("span", "words");
      for (const [lane] of words) row.append(element("span", lane === undefined ? "" : "served", `${lane ?? ""}`));
      box.append(row);
      box.setAttribute("role", "img");
      box.setAttribute("aria-label", `sector from byte ${sector * SECTOR - begin}: ${used} of 8 words used`);
      this.body.append(box);
    }
  }

  // What each lane offers, above what it gets, and where it came from.
  #exchange(event) {
    const { lanes, name, sources, values, results } = this.model.about.exchanges[this.model.columns.cell[event]];
    this.title.textContent = `Registers: ${name}()`;
    this.text.textContent = this.words.meeting(event);
    this.text.classList.remove("over");
    const width = Math.max(this.body.clientWidth, 280), height = 130, pitch = width / LANES;
    const canvas = element("canvas", "");
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.cssText = `width:${width}px;height:${height}px`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", lanes.map((lane, i) =>
      `lane ${lane} gets ${this.words.bits(results[i])} from lane ${sources[i]}`).join("; "));
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = `${pitch > 19 ? 11 : 8}px ui-monospace, monospace`;
    context.textAlign = "center";
    const x = (lane) => (lane + 0.5) * pitch;
    lanes.forEach((lane, i) => {
      const isMoved = sources[i] !== lane;
      context.strokeStyle = isMoved ? colours.write : colours.line;
      context.lineWidth = isMoved ? 1.6 : 1;
      context.beginPath();
      context.moveTo(x(sources[i]), 24);
      context.bezierCurveTo(x(sources[i]), 70, x(lane), 60, x(lane), height - 24);
      context.stroke();
      context.fillStyle = colours.ink;
      if (pitch > 15) {
        const letters = Math.floor(pitch / 6.8);
        context.fillText(short(this.words.bits(values[i]), letters), x(lane), 16);
        context.fillText(short(this.words.bits(results[i]), letters), x(lane), height - 8);
      }
    });
    this.body.append(canvas);
  }
}

class FindingPanel {
  // `onOpen(number)`: a finding was chosen.
  constructor(panel, model, words, onOpen) {
    Object.assign(this, { panel, model, words });
    this.findings = model.about.findings;
    const list = panel.querySelector("ol");
    panel.hidden = !this.findings.length;
    if (this.findings.every((finding) => finding.remark)) panel.querySelector("h2").textContent = "Notes";
    this.buttons = this.findings.map((finding, number) => {
      const item = document.createElement("li");
      const button = element("button", finding.remark ? "finding remark" : "finding");
      button.type = "button";
      button.append(element("strong", "", `${finding.remark ? "Note: " : ""}${finding.kind}`),
        element("span", "", baseName(finding.place)));
      button.onclick = () => onOpen(number);
      item.append(button);
      list.append(item);
      return button;
    });
    this.text = panel.querySelector(".finding-text");
    this.links = panel.querySelector(".finding-links");
    this.chosen = -1;
  }

  open(number, goTo) {
    this.chosen = number;
    this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", `${i === number}`));
    const finding = this.findings[number];
    this.text.textContent = finding.text + (finding.times > 1 ? `\n(${finding.times} times)` : "");
    this.links.replaceChildren();
    // Why a wrong result has no moment is in its text.
    const isElsewhere = !finding.events.length && finding.kind !== "wrong result";
    if (isElsewhere) this.links.append(element("span", "", "Its moment is not in this part of the run."));
    finding.events.forEach((event, i) => {
      const which = i ? "the earlier access" : "the later access";
      const button = element("button", "link",
        finding.race ? `${which}: ${this.words.access(event)}` : `to its moment, event ${event}`);
      button.type = "button";
      button.onclick = () => goTo(event);
      this.links.append(button);
    });
  }

  #waiting() {
    const threads = new Map();
    for (const place of Object.values(this.model.about.waits)) threads.set(place, (threads.get(place) ?? 0) + 1);
    return [...threads].map(([place, count]) =>
      ({ place, className: "waiting", label: `${plural(count, "thread")} wait${count === 1 ? "s" : ""} here` }));
  }

  // Whether the block of an event passes a barrier between two lines of a file. Accesses in these lines that no
  // barrier separates are then of different rounds of a loop, or of different calls.
  #hasBarrierBetween(event, file, first, last) {
    const { blockOf, columns, launchOf, length } = this.model;
    for (let other = 0; other < length; ++other) {
      if (columns.kind[other] !== BARRIER || launchOf[other] !== launchOf[event]) continue;
      const [place] = this.model.about.places[columns.place[other]];
      const line = Number(lineOf(place));
      if (blockOf[other] === blockOf[event] && fileOf(place) === file && line > first && line < last) return true;
    }
    return false;
  }

  // The places in the source of the chosen finding.
  marks() {
    const finding = this.findings[this.chosen];
    if (!finding) return [];
    if (!finding.race) return [{ place: finding.place, className: "faulty", label: finding.kind }, ...this.#waiting()];
    const [now, before] = finding.events.map((e) => this.model.about.places[this.model.columns.place[e]][0]);
    const barrier = {
      "block-barrier": "__syncthreads()",
      "warp-barrier": "__syncthreads() (or __syncwarp(), if only this warp uses the data)",
    }[finding.remedy];
    const [nowLine, beforeLine] = [now, before].map((place) => Number(lineOf(place)));
    const [first, last] = [nowLine, beforeLine].sort((a, b) => a - b);
    finding.isAgain ??= fileOf(now) === fileOf(before) &&
      this.#hasBarrierBetween(finding.events[0], fileOf(now), first, last);
    const where = finding.isAgain ? `after this, before line ${first} is executed again` : "between the two";
    const needed = barrier ? `; ${barrier} is missing ${where}` : "";
    if (now === before) return [{ place: now, className: "faulty", label: `both accesses${needed}` }];
    return [
      { place: now, className: "faulty", label: "the later access" + (nowLine > beforeLine ? needed : "") },
      { place: before, className: "faulty", label: "the earlier access" + (nowLine < beforeLine ? needed : "") },
    ];
  }
}
