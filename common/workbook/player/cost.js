// What a request costs, as common/simt/check/request_cost.cpp counts it.

const BANKS = 32, SECTOR = 32;

// The words that each bank serves for some lanes, each in its turn: [{bank: [lane, ...]}, ...].
function passes(lanes, words) {
  const served = Array.from({ length: BANKS }, () => new Map()); // of each bank: word -> lanes
  for (let w = 0; w < words; ++w) {
    for (const { lane, address } of lanes) {
      const word = Math.floor(address / 4) + w;
      const own = served[((word % BANKS) + BANKS) % BANKS];
      if (!own.has(word)) own.set(word, []);
      own.get(word).push(lane);
    }
  }
  const rows = Array.from({ length: Math.max(...served.map((own) => own.size)) }, () => new Map());
  served.forEach((own, bank) => [...own.values()].forEach((list, turn) => rows[turn].set(bank, list)));
  return rows;
}

function agree(lanes, distance) {
  const address = new Map(lanes.map((own) => [own.lane, own.address]));
  return lanes.every((own) => {
    const other = address.get(own.lane ^ distance);
    return other === undefined || other === own.address;
  });
}

// The wavefronts of a request in shared memory. `lanes`: [{lane, address}, ...].
function wavefronts(lanes, bytes) {
  const words = Math.max(1, Math.floor(bytes / 4));
  const of = (mask) => {
    const own = lanes.filter(({ lane }) => (mask >>> lane) & 1);
    return own.length ? passes(own, words) : [];
  };
  const together = (mask) => {
    const own = lanes.filter(({ lane }) => (mask >>> lane) & 1);
    return agree(own, 1) || agree(own, 2);
  };
  if (words === 1) return of(0xffffffff);
  if (words === 2) return together(0xffffffff) ? of(0xffffffff) : [...of(0xffff), ...of(0xffff0000)];
  return [0xffff, 0xffff0000].flatMap((half) =>
    together(half) ? of(half) : [...of(half & 0x00ff00ff), ...of(half & 0xff00ff00)]);
}

// The sectors that a request touches: [{sector, words: [8 lists of lanes]}, ...].
function sectors(lanes, bytes) {
  const found = new Map();
  for (const { lane, address } of lanes) {
    for (let byte = address; byte < address + bytes; byte += byte % 4 === 0 ? 4 : 4 - (byte % 4)) {
      const sector = Math.floor(byte / SECTOR);
      if (!found.has(sector)) found.set(sector, Array.from({ length: 8 }, () => []));
      found.get(sector)[Math.floor((byte - sector * SECTOR) / 4)].push(lane);
    }
  }
  return [...found].sort(([a], [b]) => a - b).map(([sector, words]) => ({ sector, words }));
}

// The cost of the request that these events are: what there is to see, and the numbers.
function costOf(model, events) {
  const { array, bytes, kind, offset, thread } = model.columns;
  const first = events[0];
  const of = model.about.arrays[array[first]];
  const begin = of.space === "shared" ? 0 : of.begins_at; // a GPU aligns __shared__ arrays, and the emulation need not
  const lanes = events.map((event) => ({ lane: thread[event] % LANES, address: begin + offset[event] }));
  const size = bytes[first];
  const same = new Map();
  for (const { address } of lanes) same.set(address, (same.get(address) ?? 0) + 1);
  const turns = Math.max(...same.values());
  const cost = { space: of.space, lanes: lanes.length, turns, isAtomic: kind[first] === ATOMIC };
  if (of.space === "shared") {
    const rows = wavefronts(lanes, size);
    const ideal = Math.min(rows.length, Math.ceil((lanes.length * Math.max(4, size)) / 128));
    return { ...cost, rows, actual: rows.length, ideal };
  }
  const moved = sectors(lanes, size);
  const ideal = Math.min(moved.length, Math.ceil((lanes.length * size) / SECTOR));
  return { ...cost, moved, begin, actual: moved.length, ideal };
}
