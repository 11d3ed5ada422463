// The state of the run at any moment. Moment m is the state after event m.

const LANES = 32;
const LAUNCH = 0, BLOCK = 1, BARRIER = 2, LOAD = 3, STORE = 4, ATOMIC = 5, EXCHANGE = 6, SYNCWARP = 7;
const RACES = 1, FAULTY = 2, OUTSIDE = 4;
const UNKNOWN = -1; // of a cell: nothing has shown its value
const CHECKPOINT_BYTES = 1 << 25; // that all checkpoints together may take

// What a cell holds is named by a touch: one cell of an access, or one lane of a shuffle. A touch t that wrote the cell
// is t; one that was the first to read what the host had put there is -2 - t.
const putByHost = (touch) => -2 - touch;
const touchOf = (holder) => (holder < UNKNOWN ? -2 - holder : holder);

// Whether bits would be a float between about 1e-9 and 1e9, which few integers are.
function isLikeFloat(bits, size) {
  const exponent = size === 8 ? Number((bits >> 52n) & 0x7ffn) - 1023 : Number((bits >> 23n) & 0xffn) - 127;
  return Math.abs(exponent) <= 30;
}

class Model {
  constructor({ about, columns }) {
    this.about = about;
    this.columns = columns;
    this.length = columns.kind.length;
    this.heap = new DataView(columns.heap.buffer, columns.heap.byteOffset, columns.heap.byteLength);
    this.#numberTouches();
    this.#placeEvents();
    this.#findRoots();
    for (const array of about.arrays) if (array.format === "?") array.format = this.#guessFormat(array);
    this.patches = new Map();
    for (const [launch, cell, touch] of about.patches) {
      if (!this.patches.has(launch)) this.patches.set(launch, []);
      this.patches.get(launch).push([cell, touch]);
    }
    this.holders = new Int32Array(about.cells).fill(UNKNOWN);
    this.every = Math.max(512, Math.ceil((this.length * about.cells * 4) / CHECKPOINT_BYTES));
    this.checkpoints = [];
    for (let event = 0; event < this.length; ++event) {
      if (event % this.every === 0) this.checkpoints.push(this.holders.slice());
      this.#apply(event);
    }
    this.at = this.length - 1;
    this.moveTo(0);
  }

  #numberTouches() {
    const { touches } = this.columns;
    this.firstTouch = new Int32Array(this.length + 1);
    for (let event = 0; event < this.length; ++event) {
      this.firstTouch[event + 1] = this.firstTouch[event] + touches[event];
    }
    this.eventOfTouch = new Int32Array(this.firstTouch[this.length]);
    for (let event = 0; event < this.length; ++event) {
      this.eventOfTouch.fill(event, this.firstTouch[event], this.firstTouch[event + 1]);
    }
  }

  // The launch, block and interval of each event, and the first and the last event of its request.
  #placeEvents() {
    const { kind, cell, request } = this.columns;
    for (const name of ["launchOf", "blockOf", "intervalOf", "requestBegin", "requestEnd"]) {
      this[name] = new Int32Array(this.length);
    }
    let launch = -1, block = 0, interval = 0, begin = 0;
    for (let event = 0; event < this.length; ++event) {
      if (kind[event] === LAUNCH) [launch, block, interval] = [cell[event], -1, 0];
      if (kind[event] === BLOCK) [block, interval] = [cell[event], 0];
      if (event > 0 && request[event] !== request[event - 1]) begin = event;
      this.launchOf[event] = launch;
      this.blockOf[event] = block;
      this.intervalOf[event] = interval;
      this.requestBegin[event] = begin;
      if (kind[event] === BARRIER) ++interval;
    }
    for (let event = this.length - 1, end = event; event >= 0; --event) {
      if (event < this.requestBegin[end]) end = event;
      this.requestEnd[event] = end;
    }
  }

  // The touch in which each value began.
  #findRoots() {
    const { origins } = this.columns;
    this.root = new Int32Array(origins.length);
    for (let touch = 0; touch < origins.length; ++touch) {
      const origin = origins[touch];
      this.root[touch] = origin >= 0 && origin < touch ? this.root[origin] : touch;
    }
  }

  // A program does not say what it keeps in an array: floats, judging by their bits, or signed integers.
  #guessFormat(array) {
    if (array.size < 4) return "u";
    const { array: arrays } = this.columns;
    const number = this.about.arrays.indexOf(array);
    let floats = 0, others = 0;
    for (let touch = 0; touch < this.eventOfTouch.length; ++touch) {
      const event = this.eventOfTouch[touch];
      if (!this.isAccess(event) || arrays[event] !== number) continue;
      const bits = BigInt(this.valueOf(touch, { ...array, format: "u" }) ?? 0);
      if (bits !== 0n) isLikeFloat(bits, array.size) ? ++floats : ++others;
    }
    return floats > 4 * others ? "f" : "i";
  }

  // --- moments ---

  #apply(event) {
    const { kind, cell, touches } = this.columns;
    const { holders } = this;
    const first = this.firstTouch[event];
    switch (kind[event]) {
      case LAUNCH:
        for (const [patched, touch] of this.patches.get(cell[event]) ?? []) holders[patched] = putByHost(touch);
        break;
      case BLOCK:
        for (const array of this.about.arrays) {
          if (array.space === "shared") holders.fill(UNKNOWN, array.first, array.first + array.cells);
        }
        break;
      case LOAD:
        for (let k = 0; k < touches[event]; ++k) {
          if (holders[cell[event] + k] === UNKNOWN) holders[cell[event] + k] = putByHost(first + k);
        }
        break;
      case STORE:
      case ATOMIC:
        for (let k = 0; k < touches[event]; ++k) holders[cell[event] + k] = first + k;
        break;
    }
  }

  moveTo(moment) {
    const target = Math.min(Math.max(moment, 0), this.length - 1);
    const checkpoint = Math.floor(target / this.every);
    let next = this.at + 1;
    if (next > target + 1 || next < checkpoint * this.every) {
      this.holders.set(this.checkpoints[checkpoint]);
      next = checkpoint * this.every;
    }
    for (; next <= target; ++next) this.#apply(next);
    this.at = target;
  }

  // The moment after one step. `unit`: access, request, line, interval or launch; `way`: 1 or -1.
  step(unit, way) {
    const { kind, place } = this.columns;
    const isStop = {
      interval: (event) => kind[event] <= BARRIER,
      launch: (event) => kind[event] === LAUNCH,
    }[unit];
    const clamp = (event) => Math.min(Math.max(event, 0), this.length - 1);
    if (unit === "access") return clamp(this.at + way);
    const oneRequest = (event) =>
      way < 0 ? this.requestBegin[event] - 1 : event < this.requestEnd[event] ? this.requestEnd[event]
        : event + 1 < this.length ? this.requestEnd[event + 1] : this.length;
    let event = oneRequest(this.at);
    if (unit === "line") {
      const line = (e) => `${this.about.places[place[e]][0]} ${this.warpOf(e)} ${kind[e] <= BARRIER ? e : ""}`;
      const from = line(this.at);
      while (event >= 0 && event < this.length && line(event) === from) event = oneRequest(event);
    } else if (isStop) {
      while (event >= 0 && event < this.length && !isStop(event)) event += way;
    }
    return clamp(event);
  }

  // --- what is at a moment ---

  isAccess(event) {
    return this.columns.kind[event] >= LOAD && this.columns.kind[event] <= ATOMIC;
  }

  warpOf(event) {
    const { kind, thread } = this.columns;
    return kind[event] <= BARRIER ? -1 : kind[event] >= EXCHANGE ? thread[event] : Math.floor(thread[event] / LANES);
  }

  // The events of the request around an event.
  request(event) {
    const events = [];
    for (let e = this.requestBegin[event]; e <= this.requestEnd[event]; ++e) events.push(e);
    return events;
  }

  arrayOfCell(cell) {
    return this.about.arrays.find((array) => cell >= array.first && cell < array.first + array.cells);
  }

  // The index of a cell in its array, and back.
  indexOf(array, cell) {
    let left = cell - array.first;
    for (const [first, last] of array.ranges) {
      if (left <= last - first) return first + left;
      left -= last - first + 1;
    }
    return -1;
  }

  nameOf(cell) {
    const array = this.arrayOfCell(cell);
    return elementOf(array.name, this.indexOf(array, cell));
  }

  // The index that an access begins at, also outside its array.
  indexOfAccess(event) {
    const { array, offset } = this.columns;
    return Math.floor(offset[event] / this.about.arrays[array[event]].size);
  }

  // --- values ---

  // The value of what holds a cell, as a number; null: unknown. Those of 8 bytes are BigInt unless they are f64.
  valueOf(holder, array) {
    if (holder === UNKNOWN) return null;
    const touch = touchOf(holder);
    const event = this.eventOfTouch[touch];
    const isBefore = holder < UNKNOWN && this.columns.kind[event] === ATOMIC;
    const base = this.columns.value[event] + (isBefore ? this.columns.bytes[event] : 0);
    return this.read(base + (touch - this.firstTouch[event]) * array.size, array.size, array.format);
  }

  read(at, size, format) {
    if (at + size > this.heap.byteLength) return null;
    switch (`${format === "x" ? "u" : format}${size}`) {
      case "i1": return this.heap.getInt8(at);
      case "i2": return this.heap.getInt16(at, true);
      case "i4": return this.heap.getInt32(at, true);
      case "i8": return this.heap.getBigInt64(at, true);
      case "f4": return this.heap.getFloat32(at, true);
      case "f8": return this.heap.getFloat64(at, true);
      case "u2": case "f2": return this.heap.getUint16(at, true);
      case "u4": return this.heap.getUint32(at, true);
      case "u8": return this.heap.getBigUint64(at, true);
      default: return this.heap.getUint8(at);
    }
  }

  text(value, format) {
    if (value === null) return "";
    if (format === "x") return value.toString(16);
    return format === "f" ? `${Number(Number(value).toPrecision(5))}` : `${value}`;
  }

  // The value that an access read or wrote, as text. `isBefore`: of an atomic, what it found.
  accessText(event, isBefore = false) {
    const { array, bytes, flags, touches, value } = this.columns;
    if (flags[event] & OUTSIDE) return "?";
    const of = this.about.arrays[array[event]];
    const base = value[event] + (isBefore ? bytes[event] : 0);
    const texts = [];
    for (let k = 0; k < touches[event]; ++k) {
      texts.push(this.text(this.read(base + k * of.size, of.size, of.format), of.format));
    }
    return texts.join(" ");
  }

  // --- where a value went ---

  rootOf(cell) {
    const holder = this.holders[cell];
    return holder === UNKNOWN ? -1 : this.root[touchOf(holder)];
  }

  // The events that put the value into a cell, or pass it on, in order.
  pathOf(root) {
    const events = [];
    for (let touch = root; touch < this.root.length; ++touch) {
      if (this.root[touch] !== root) continue;
      const event = this.eventOfTouch[touch];
      const kind = this.columns.kind[event];
      if ((kind !== LOAD || touch === root) && events.at(-1) !== event) events.push(event);
    }
    return events;
  }
}
