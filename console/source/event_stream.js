/** Server-sent events, as labs write them: lines `id:`, `event:` and `data:`, and an empty line after each event. */

/** @typedef {{name: string, id: string, data: string}} SentEvent */

/**
 * Yield each event of a stream as it arrives.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<SentEvent>}
 */
export async function* eventsOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = eventIn(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined); // a stream that has failed is over already
  }
}

/**
 * Return the event that a block of lines says; null for a comment, which keeps a connection open.
 * @param {string} block
 * @returns {SentEvent | null}
 */
function eventIn(block) {
  const event = { name: "message", id: "", data: "" };
  /** @type {string[]} */
  const data = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (line.startsWith("event:")) event.name = value;
    else if (line.startsWith("id:")) event.id = value;
    else if (line.startsWith("data:")) data.push(value);
  }
  if (data.length === 0) return null;
  event.data = data.join("\n");
  return event;
}
