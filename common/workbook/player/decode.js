"use strict";

// The run lies compressed in the page: a JSON object, and columns of numbers (page.py, packed()).
async function decodeRun(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const about = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const kinds = { Uint8Array, Uint16Array, Int32Array };
  const columns = {};
  let at = 4 + length;
  for (const [name, kind, count] of about.columns) {
    columns[name] = new kinds[kind](buffer, at, count);
    at += Math.ceil(columns[name].byteLength / 8) * 8;
  }
  return { about, columns };
}
