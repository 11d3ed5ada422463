// Arrays as canvases. A canvas is as large as what is visible of it; only cells that have changed are drawn again.

const ZOOMS = [{ width: 5, height: 5, gap: 1 }, { width: 11, height: 11, gap: 2 }, { width: 0, height: 26, gap: 5 },
  { width: 0, height: 40, gap: 6 }]; // width 0: as wide as the longest value
const FIT_HEIGHT = 330; // pixels that an array takes unless it is enlarged
const LABEL = 46;

// A colour of the ramp from small to large values: even steps of lightness, which colour-blind readers see, too.
function rampColour(share) {
  const lightness = 0.34 + 0.54 * share, chroma = 0.125 + 0.03 * Math.sin(Math.PI * share);
  const hue = ((295 - 190 * share) * Math.PI) / 180;
  const a = chroma * Math.cos(hue), b = chroma * Math.sin(hue);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s].map((linear) => Math.min(Math.max(linear, 0), 1));
}

const RAMP = Array.from({ length: 64 }, (_, i) => {
  const linear = rampColour(i / 63);
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  const bytes = linear.map((c) => Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055)));
  return { fill: `rgb(${bytes.join(" ")})`, text: luminance > 0.179 ? "#000" : "#fff" };
});

class ArrayView {
  constructor(model, words, array, onPick) {
    Object.assign(this, { model, words, array, onPick });
    this.zoom = -1; // -1: as large as fits
    this.cursor = -1;
    this.marks = new Map();
    this.drawn = new Float64Array(array.cells); // what was drawn of each cell; 0: nothing
    this.#placeCells();
    this.#rank();
    this.#build();
  }

  // Each cell has a slot, and so has each gap between cells that are not neighbours in the array.
  #placeCells() {
    const { ranges, cells } = this.array;
    this.slots = cells + ranges.length - 1;
    this.slotOf = new Int32Array(cells);
    this.cellIn = new Int32Array(this.slots).fill(-1); // -1: a gap
    let number = 0;
    ranges.forEach(([first, last], gaps) => {
      for (let index = first; index <= last; ++index, ++number) {
        this.slotOf[number] = number + gaps;
        this.cellIn[number + gaps] = number;
      }
    });
  }

  // Where each value lies among all that the array has held.
  #rank() {
    const { model, array } = this;
    const values = new Set();
    const { array: arrays, kind } = model.columns;
    const number = model.about.arrays.indexOf(array);
    for (let event = 0; event < model.length; ++event) {
      if (!model.isAccess(event) || arrays[event] !== number) continue;
      for (let touch = model.firstTouch[event]; touch < model.firstTouch[event + 1]; ++touch) {
        values.add(Number(model.valueOf(touch, array)));
        if (kind[event] === ATOMIC) values.add(Number(model.valueOf(putByHost(touch), array)));
      }
    }
    this.values = Float64Array.from(values).sort();
    const ends = [this.values[0] ?? 0, this.values.at(-1) ?? 0];
    this.letters = array.format === "f" ? Math.max(...[...values].slice(0, 500).map((v) => model.text(v, "f").length))
      : Math.max(2, ...ends.map((v) => model.text(v, array.format).length));
  }

  shade(value) {
    let low = 0, high = this.values.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.values[middle] < Number(value)) low = middle + 1; else high = middle;
    }
    return RAMP[this.values.length < 2 ? 32 : Math.round((63 * low) / (this.values.length - 1))];
  }

  #build() {
    const { array } = this;
    const what = array.space === "shared" ? "shared memory of one block" : "global memory";
    this.element = document.createElement("section");
    this.element.className = "array";
    this.element.innerHTML = `<div class="name"><div><h3></h3> <span class="of"></span></div>
      <span class="zoom"><select aria-label="how values are shown"></select>
      <button type="button" aria-label="smaller cells">−</button>
      <button type="button" aria-label="larger cells">+</button></span></div>
      <div class="scroll" tabindex="0" role="application"><div class="room"><canvas></canvas></div></div>`;
    this.element.querySelector("h3").textContent = array.name;
    this.element.querySelector(".of").textContent =
      `${what}, ${plural(array.cells, "element")} of ${plural(array.size, "byte")}`;
    this.scroll = this.element.querySelector(".scroll");
    this.scroll.setAttribute("aria-label",
      `${array.name}, ${what}. Arrow keys choose an element, Enter follows its value.`);
    this.canvas = this.element.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    const formats = { u: "unsigned", i: "signed", ...(array.size >= 4 && { f: "float" }), x: "hexadecimal" };
    const select = this.element.querySelector("select");
    for (const [format, name] of Object.entries(formats)) select.add(new Option(name, format));
    select.value = array.format;
    select.onchange = () => {
      array.format = select.value;
      this.#rank();
      this.layOut();
      this.paint(true);
    };
    const [smaller, larger] = this.element.querySelectorAll("button");
    smaller.onclick = () => this.setZoom(Math.max(0, this.level - 1));
    larger.onclick = () => this.setZoom(Math.min(ZOOMS.length - 1, this.level + 1));
    this.scroll.addEventListener("scroll", () => this.rows && this.paint(true), { passive: true });
    this.scroll.addEventListener("click", (press) => this.pick(this.cellAt(press), false));
    this.scroll.addEventListener("dblclick", (press) => this.pick(this.cellAt(press), true));
    this.scroll.addEventListener("keydown", (press) => this.#key(press));
  }

  #key(press) {
    const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.perRow, ArrowDown: this.perRow }[press.key];
    if (move === undefined && press.key !== "Enter") return;
    press.preventDefault();
    press.stopPropagation();
    const { first, cells } = this.array;
    if (press.key === "Enter") return this.pick(this.cursor < 0 ? first : this.cursor, true);
    this.pick(Math.min(Math.max(this.cursor < 0 ? first : this.cursor + move, first), first + cells - 1), false);
    this.show(this.cursor);
  }

  pick(cell, follows) {
    if (cell >= 0) this.onPick(cell, follows);
  }

  // --- layout ---

  setZoom(level) {
    this.zoom = level;
    this.layOut();
    this.paint(true);
  }

  #size(level) {
    const { width, height, gap } = ZOOMS[level];
    const letter = level === ZOOMS.length - 1 ? 9.2 : 7.4;
    const wide = width || Math.max(level === ZOOMS.length - 1 ? 44 : 25, Math.ceil(this.letters * letter + 9));
    const room = Math.max(1, Math.floor((this.scroll.clientWidth - LABEL + gap) / (wide + gap)));
    const perRow = Math.min(this.slots, room < 2 ? 1 : 2 ** Math.floor(Math.log2(room)));
    return { wide, height, gap, perRow, rows: Math.ceil(this.slots / perRow) };
  }

  layOut() {
    let level = this.zoom >= 0 ? this.zoom : 2;
    while (this.zoom < 0 && level > 0) {
      const { height, gap, rows } = this.#size(level);
      if (rows * (height + gap) <= FIT_HEIGHT) break;
      --level;
    }
    this.level = level;
    Object.assign(this, this.#size(level));
    this.margin = Math.max(this.gap, 5); // so that the first row's number is whole
    const all = this.rows * (this.height + this.gap) + this.margin;
    const visible = Math.min(all, FIT_HEIGHT + 40);
    this.scroll.style.height = `${visible + 2}px`;
    this.element.querySelector(".room").style.height = `${all}px`;
    const scale = window.devicePixelRatio || 1;
    this.view = { width: this.scroll.clientWidth, height: visible };
    this.canvas.width = Math.round(this.view.width * scale);
    this.canvas.height = Math.round(visible * scale);
    this.canvas.style.width = `${this.view.width}px`;
    this.canvas.style.height = `${visible}px`;
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    const [smaller, larger] = this.element.querySelectorAll("button");
    smaller.disabled = level === 0;
    larger.disabled = level === ZOOMS.length - 1;
    this.drawn.fill(0);
  }

  at(cell) {
    return this.atSlot(this.slotOf[cell - this.array.first]);
  }

  atSlot(slot) {
    return {
      x: LABEL + (slot % this.perRow) * (this.wide + this.gap),
      y: this.margin + Math.floor(slot / this.perRow) * (this.height + this.gap) - this.top,
    };
  }

  cellAt(press) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((press.clientX - box.left - LABEL + this.gap / 2) / (this.wide + this.gap));
    const y = press.clientY - box.top + this.scroll.scrollTop - this.margin + this.gap / 2;
    const row = Math.floor(y / (this.height + this.gap));
    const isThere = column >= 0 && column < this.perRow && row >= 0;
    const number = isThere ? this.cellIn[row * this.perRow + column] ?? -1 : -1;
    return number < 0 ? -1 : this.array.first + number;
  }

  // Scrolls so that a cell is visible.
  show(cell) {
    this.top = this.scroll.scrollTop;
    const { y } = this.at(cell);
    if (y < this.margin) this.scroll.scrollTop += y - this.margin;
    else if (y + this.height > this.view.height) this.scroll.scrollTop += y + this.height + this.gap - this.view.height;
  }

  // --- drawing ---

  // `marks`: cell -> {writes, wrong, isPale, signs}; `root`: of the value that is followed, or -1. Returns how many
  // cells were drawn.
  update(marks, root, cursor) {
    this.marks = marks;
    this.root = root;
    const { first, cells } = this.array;
    this.cursor = cursor >= first && cursor < first + cells ? cursor : -1;
    const marked = [...marks.keys()].filter((cell) => cell >= first && cell < first + cells);
    if (marked.length && this.rows * (this.height + this.gap) + this.margin > this.view.height) this.show(marked[0]);
    return this.paint(false);
  }

  paint(all) {
    const { context, array, model } = this;
    this.top = this.scroll.scrollTop;
    if (all) {
      this.drawn.fill(0);
      context.clearRect(0, 0, this.view.width, this.view.height);
    }
    const pitch = this.height + this.gap;
    const firstRow = Math.max(0, Math.floor(this.top / pitch) - 1);
    const lastRow = Math.min(this.rows - 1, Math.ceil((this.top + this.view.height) / pitch));
    const last = Math.min(this.slots, (lastRow + 1) * this.perRow);
    let count = 0;
    for (let slot = firstRow * this.perRow; slot < last; ++slot) {
      if (this.cellIn[slot] < 0) {
        if (all) this.#drawGap(slot);
        continue;
      }
      const cell = array.first + this.cellIn[slot];
      const holder = model.holders[cell], mark = this.marks.get(cell);
      const isFollowed = this.root >= 0 && holder !== UNKNOWN && model.root[touchOf(holder)] === this.root;
      const signs = (mark ? mark.signs : 0) + (isFollowed ? 16 : 0) + (cell === this.cursor ? 32 : 0);
      const look = (holder + this.model.root.length + 3) * 64 + signs, before = this.drawn[cell - array.first];
      if (before === look) continue;
      this.drawn[cell - array.first] = look;
      this.#drawCell(cell, holder, mark, isFollowed, signs > 0 || before % 64 > 0);
      ++count;
    }
    if (all) this.#drawLabels(firstRow, lastRow);
    return count;
  }

  #drawLabels(firstRow, lastRow) {
    const { context } = this;
    context.fillStyle = colours.muted;
    context.font = "11px ui-monospace, monospace";
    context.textAlign = "right";
    context.textBaseline = "middle";
    const every = Math.max(1, Math.ceil(14 / (this.height + this.gap)));
    for (let row = firstRow; row <= lastRow; ++row) {
      if (row % every) continue;
      const slot = row * this.perRow;
      const number = this.cellIn[slot] < 0 ? this.cellIn[slot + 1] : this.cellIn[slot];
      const index = this.model.indexOf(this.array, this.array.first + number);
      context.fillText(`${index}`, LABEL - 8, this.atSlot(slot).y + this.height / 2);
    }
  }

  // Three dots, on a line that interrupts the row.
  #drawGap(slot) {
    const { context, wide, height } = this;
    const { x, y } = this.atSlot(slot);
    context.fillStyle = colours.muted;
    context.fillRect(x + wide / 2 - 0.5, y, 1, height);
    if (this.level < 2) return;
    context.clearRect(x + wide / 2 - 9, y + height / 2 - 4, 18, 8);
    for (const dot of [-6, 0, 6]) {
      context.beginPath();
      context.arc(x + wide / 2 + dot, y + height / 2, 1.6, 0, 2 * Math.PI);
      context.fill();
    }
  }

  // `clears`: there is, or was, something around the cell.
  #drawCell(cell, holder, mark, isFollowed, clears) {
    const { context, array, model, wide, height } = this;
    const { x, y } = this.at(cell);
    const edge = Math.min(3, this.gap / 2 + 0.5);
    if (clears) context.clearRect(x - edge, y - edge, wide + 2 * edge, height + 2 * edge);
    const value = model.valueOf(holder, array);
    const shade = value === null ? { fill: colours.empty, text: colours.muted } : this.shade(value);
    context.fillStyle = shade.fill;
    context.fillRect(x, y, wide, height);
    if (this.level >= 2) {
      context.fillStyle = shade.text;
      context.font = `${this.level === 3 ? 15 : 12}px ui-monospace, monospace`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText(value === null ? "·" : model.text(value, array.format), x + wide / 2, y + height / 2 + 1);
    }
    if (isFollowed) this.#ring(x, y);
    if (mark) this.#drawMark(mark, x, y, edge);
    if (cell === this.cursor) {
      context.setLineDash([3, 2]);
      context.strokeStyle = colours.ink;
      context.lineWidth = 1.5;
      context.strokeRect(x - edge + 0.75, y - edge + 0.75, wide + 2 * edge - 1.5, height + 2 * edge - 1.5);
      context.setLineDash([]);
    }
  }

  // A double ring, which is visible on every colour.
  #ring(x, y) {
    const { context, wide, height } = this;
    for (const [inset, colour] of [[1, "#fff"], [2.5, "#000"]]) {
      context.strokeStyle = colour;
      context.lineWidth = 1.5;
      context.beginPath();
      context.roundRect(x + inset, y + inset, Math.max(wide - 2 * inset, 1), Math.max(height - 2 * inset, 1), 8);
      context.stroke();
    }
  }

  // Reads: a thin frame. Writes: a thick frame with a corner. Something wrong: a frame in red with a cross.
  #drawMark(mark, x, y, edge) {
    const { context, wide, height } = this;
    const colour = mark.wrong ? colours.wrong : mark.writes ? colours.write : colours.read;
    const width = mark.writes || mark.wrong ? edge : Math.max(1.5, edge - 1);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.globalAlpha = mark.isPale ? 0.45 : 1;
    context.strokeRect(x - width / 2, y - width / 2, wide + width, height + width);
    if (this.level >= 2 && mark.writes) {
      context.fillStyle = colour;
      context.beginPath();
      context.moveTo(x + wide, y);
      context.lineTo(x + wide, y + 8);
      context.lineTo(x + wide - 8, y);
      context.fill();
    }
    if (mark.wrong && this.level >= 1) {
      context.beginPath();
      context.moveTo(x, y + height);
      context.lineTo(x + Math.min(wide, height) * 0.35, y + height - Math.min(wide, height) * 0.35);
      context.stroke();
    }
    context.globalAlpha = 1;
  }
}
