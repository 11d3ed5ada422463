// What is on the page, in words.

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const baseName = (place) => place.replace(/^.*\//, "");
const fileOf = (place) => place.replace(/:[^:]*$/, "");
const lineOf = (place) => place.replace(/^.*:/, "");

// A number in at most so many characters: 4.3e9 for 4294967295. Its first digits alone would be another number.
function short(text, letters) {
  if (text.length <= letters) return text;
  if (text.startsWith("0x")) return `…${text.slice(1 - letters)}`;
  const forms = [5, 4, 3, 2, 1].map((digits) => Number(text).toPrecision(digits).replace("e+", "e"));
  return forms.find((form) => form.length <= letters && form !== "NaN") ?? "…";
}

// An element of an array: tile[3], tile[3] of a kernel, or in words, where the array has no name in the source.
function elementOf(name, index) {
  const [, own, more] = /^(\w+)( .*)?$/.exec(name) ?? [];
  const isNamed = own && (!more || /^ (of |\()/.test(more));
  return isNamed ? `${own}[${index}]${more ?? ""}` : `element ${index} of ${name}`;
}

class Words {
  constructor(model) {
    this.model = model;
    this.about = model.about;
  }

  coordinates(linear, shape) {
    const [x, y, z] = shape;
    if (y === 1 && z === 1) return `${linear}`;
    return `(${linear % x},${Math.floor(linear / x) % y},${Math.floor(linear / x / y)})`;
  }

  launch(event) {
    const { kernel, grid, block } = this.about.launches[this.model.launchOf[event]];
    const shape = (sizes) => sizes.join(",").replace(/(,1)+$/, "");
    return `${kernel}<<<${shape(grid)}, ${shape(block)}>>>`;
  }

  block(event) {
    return `block ${this.coordinates(this.model.blockOf[event], this.about.launches[this.model.launchOf[event]].grid)}`;
  }

  thread(event, thread = this.model.columns.thread[event]) {
    return `thread ${this.coordinates(thread, this.about.launches[this.model.launchOf[event]].block)}`;
  }

  // The line in the source, and the one in a header that it calls.
  place(event) {
    const [source, inner] = this.about.places[this.model.columns.place[event]];
    if (!source && !inner) return "an unknown line";
    return source === inner ? `line ${lineOf(source)}` : `line ${lineOf(source)}, in ${baseName(inner)}`;
  }

  verb(kind, count = 1) {
    const s = count === 1 ? "s" : "";
    return kind === LOAD ? `read${s}` : kind === STORE ? `write${s}` : `atomically change${s}`;
  }

  element(event) {
    const { array, bytes } = this.model.columns;
    const of = this.about.arrays[array[event]];
    const index = this.model.indexOfAccess(event);
    const count = Math.floor(bytes[event] / of.size);
    return elementOf(of.name, count > 1 ? `${index} to ${index + count - 1}` : index);
  }

  value(event) {
    const { kind, flags } = this.model.columns;
    if (flags[event] & OUTSIDE) return "outside the array";
    if (kind[event] === ATOMIC) return `from ${this.model.accessText(event, true)} to ${this.model.accessText(event)}`;
    return this.model.accessText(event);
  }

  accessOnly(event) {
    const verb = this.verb(this.model.columns.kind[event]);
    return `${this.thread(event)} ${verb} ${this.element(event)}: ${this.value(event)}`;
  }

  // One access: "thread 5 writes tile[3]: 17, line 41".
  access(event) {
    return `${this.accessOnly(event)}, ${this.place(event)}`;
  }

  cost(cost) {
    if (cost.space === "shared") {
      if (cost.isAtomic) return cost.turns > 1 ? `${cost.turns} lanes change one element, in turn.` : "";
      const conflict = cost.actual > cost.ideal ? `, a bank conflict: ${cost.ideal} would be enough` : "";
      return `${plural(cost.actual, "wavefront")}${conflict}.`;
    }
    const wasted = cost.actual > cost.ideal ? `, although its bytes would fit in ${cost.ideal}` : "";
    const turns = cost.isAtomic && cost.turns > 1 ? ` ${cost.turns} lanes change one element, in turn.` : "";
    return `${plural(cost.actual, "sector")} of 32 bytes${wasted}.${turns}`;
  }

  // The moment as a sentence. `unit` is what one step is; `cost` that of the request, or null.
  moment(event, unit, cost) {
    const { cell, kind, place } = this.model.columns;
    const where = this.about.places[place[event]][0];
    switch (kind[event]) {
      case LAUNCH:
        return `Launch ${cell[event]} begins: ${this.launch(event)}${where && `, launched in line ${lineOf(where)}`}.`;
      case BLOCK:
        return `B${this.block(event).slice(1)} of ${this.launch(event)} begins.`;
      case BARRIER:
        return `All threads of ${this.block(event)} have arrived at the barrier in line ${lineOf(where)}: ` +
          `interval ${this.model.intervalOf[event]} ends.`;
      case EXCHANGE:
      case SYNCWARP:
        return this.meeting(event);
    }
    if (unit === "access") {
      const flags = this.model.columns.flags[event];
      const wrong = flags & RACES ? " A race." : flags & FAULTY ? " A fault." : "";
      return `B${this.block(event).slice(1)}, warp ${this.model.warpOf(event)}, lane ` +
        `${this.model.columns.thread[event] % LANES}: ${this.access(event)}.${wrong}`;
    }
    return this.request(event, cost);
  }

  request(event, cost) {
    const events = this.model.request(event);
    const { array, flags, kind } = this.model.columns;
    const of = this.about.arrays[array[event]];
    const lanes = `Warp ${this.model.warpOf(event)} of ${this.block(event)}, ${this.place(event)}: `;
    const signs = events.reduce((all, e) => all | flags[e], 0);
    const wrong = signs & RACES ? " A race." : signs & FAULTY ? " A fault." : "";
    if (events.length === 1) return `${lanes}${this.accessOnly(event)}. ${this.cost(cost)}${wrong}`;
    const indexes = [...new Set(events.map((e) => this.model.indexOfAccess(e)))].sort((a, b) => a - b);
    const [low, high] = [indexes[0], indexes.at(-1)];
    const places = indexes.length > 4 ? `between ${low} and ${high}`
      : `at ${indexes.slice(0, -1).join(", ")} and ${high}`;
    const which = low === high ? elementOf(of.name, low) : `${of.name}, ${places}`;
    return `${lanes}${events.length} lanes ${this.verb(kind[event], 2)} ${which}. ${this.cost(cost)}${wrong}`;
  }

  meeting(event) {
    const { name, lanes, sources, values, results } = this.about.exchanges[this.model.columns.cell[event]];
    const where = `Warp ${this.model.warpOf(event)} of ${this.block(event)}, ${this.place(event)}`;
    const begin = `${where}: ${plural(lanes.length, "lane")} `;
    if (!values.length) return `${begin}have met at ${name}().`.replace("1 lane have", "1 lane has");
    const moved = sources.filter((source, i) => source !== lanes[i]).length;
    const what = sources.length
      ? `${plural(moved, "value")} moved from lane to lane` : `each got ${this.bits(results[0], name)}`;
    const same = sources.length || results.every((result) => result === results[0]);
    return `${begin}met at ${name}(): ${same ? what : "each got a result of its own"}.`;
  }

  // A value of a register, of which only the bits are known. `name`: of the primitive; some return masks of lanes.
  bits(hex, name = "") {
    if (/ballot|match/.test(name)) return `0x${hex}`;
    const value = BigInt(`0x${hex}`);
    const format = this.about.run.type?.[0] ?? (isLikeFloat(value, 4) ? "f" : "i");
    if (format === "f" && hex.length <= 8) return this.model.text(this.fromBits(Number(value)), "f");
    if (format === "i" && hex.length <= 8) return `${Number(value) | 0}`;
    return `${value}`;
  }

  fromBits(bits) {
    return new Float32Array(new Uint32Array([bits]).buffer)[0];
  }

  // A cell: its value, and who wrote it last.
  cell(cell) {
    const { model } = this;
    const array = model.arrayOfCell(cell);
    const holder = model.holders[cell];
    if (holder === UNKNOWN) return `${model.nameOf(cell)}: not known yet, because nothing has written or read it.`;
    const value = `${model.nameOf(cell)} = ${model.text(model.valueOf(holder, array), array.format)}`;
    if (holder < UNKNOWN) return `${value}. It was written before, by the host or by what is not recorded.`;
    const event = model.eventOfTouch[holder];
    return `${value}. Last written by ${this.block(event)}, ${this.thread(event)}, ${this.place(event)}.`;
  }

  position(event) {
    const { model } = this;
    const parts = [`launch ${model.launchOf[event]}`];
    if (model.blockOf[event] >= 0) parts.push(this.block(event), `interval ${model.intervalOf[event]}`);
    return `${parts.join(", ")}, event ${event} of ${model.length - 1}`;
  }
}
