/**
 * Where the map draws sites, servers and connectors.
 *
 * Sites stand side by side, up to four in a row, in an order that puts connected sites next to each other. With more sites
 * there are more rows, and every second row runs backwards, so the last site of a row is above the first of the next one.
 */

/**
 * @typedef {import("./lab_state.js").Topology} Topology
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 * @typedef {{x: number, y: number}} Point
 * @typedef {{name: string, box: Box}} Placed
 *
 * @typedef {object} Sizes What must have room.
 * @property {number} card the width of a server's card
 * @property {number} between the width between two sites, for the words of a connector
 *
 * @typedef {object} MapLayout
 * @property {number} width
 * @property {number} height
 * @property {Placed[]} sites
 * @property {Record<string, Box>} servers
 * @property {{name: string, from: Point, to: Point, label: Point, sites: [string, string], isOver: boolean, isNarrow: boolean}[]} connectors
 *   isOver: whether another site of the row is between the two; isNarrow: whether another line is close below it
 */

/** @type {Sizes} */
export const LEAST = { card: 168, between: 112 };
export const CARD_HEIGHT = 78;
const GAP = 22;
/** A single site has more room between its servers. */
const WIDE_GAP = 60;
const PADDING = 15;
const TITLE = 34;
const ROWS_APART = 67;
const LINES_APART = 46;
const SITES_A_ROW = 4;

/**
 * Return the sites in an order in which most connectors join neighbours.
 * @param {Topology} topology
 * @returns {string[]}
 */
export function orderOf(topology) {
  const remaining = new Set(topology.sites);
  const neighbours = (/** @type {string} */ site) =>
    topology.connectors
      .filter((connector) => connector.between.includes(site))
      .flatMap((connector) => connector.between);
  /** @type {string[]} */
  const sites = [];
  // Begin at an end of the chain, if there is one.
  const start = [...remaining].sort((a, b) => new Set(neighbours(a)).size - new Set(neighbours(b)).size);
  for (const first of start) {
    /** @type {string[]} */
    const next = [first];
    while (next.length) {
      const site = /** @type {string} */ (next.shift());
      if (!remaining.delete(site)) continue;
      sites.push(site);
      next.push(...neighbours(site).filter((neighbour) => remaining.has(neighbour)));
    }
  }
  return sites;
}

/**
 * @param {Topology} topology
 * @param {Sizes} [sizes]
 * @param {string[]} [earlier] the order of the sites at another moment, so that sites keep their places when connectors change;
 *   new sites come after the others
 * @returns {MapLayout}
 */
export function mapLayout(topology, sizes = LEAST, earlier = orderOf(topology)) {
  const kept = earlier.filter((site) => topology.sites.includes(site));
  const order = [...kept, ...orderOf(topology).filter((site) => !kept.includes(site))];
  const card = { width: sizes.card, height: CARD_HEIGHT };
  const perRow =
    order.length > SITES_A_ROW ? Math.ceil(order.length / Math.ceil(order.length / SITES_A_ROW)) : order.length;
  const members = (/** @type {string} */ site) =>
    Object.keys(topology.servers).filter((name) => topology.servers[name].site === site);
  const shape = (/** @type {string} */ site) => {
    const count = Math.max(1, members(site).length);
    // A single site has the whole width, so that the lines between its servers can be seen.
    const columns = order.length === 1 ? Math.ceil(Math.sqrt(count)) : count > 3 ? 2 : 1;
    return { columns, rows: Math.ceil(count / columns) };
  };

  const gap = order.length === 1 ? WIDE_GAP : GAP;

  /** @type {Placed[]} */
  const sites = [];
  /** @type {Record<string, Box>} */
  const servers = {};
  let y = 0;
  let width = 0;
  for (let first = 0; first < order.length; first += perRow) {
    const row = order.slice(first, first + perRow);
    if ((first / perRow) % 2) row.reverse();
    const rows = Math.max(...row.map((site) => shape(site).rows));
    const height = TITLE + PADDING + rows * card.height + (rows - 1) * gap * 2;
    let x = 0;
    for (const site of row) {
      const { columns } = shape(site);
      const box = { x, y, width: 2 * PADDING + columns * card.width + (columns - 1) * gap * 2, height };
      sites.push({ name: site, box });
      members(site).forEach((name, index) => {
        servers[name] = {
          x: x + PADDING + (index % columns) * (card.width + gap * 2),
          y: y + TITLE + Math.floor(index / columns) * (card.height + gap * 2),
          ...card,
        };
      });
      x += box.width + sizes.between;
    }
    width = Math.max(width, x - sizes.between);
    y += height + ROWS_APART;
  }
  const boxes = Object.fromEntries(sites.map((site) => [site.name, site.box]));
  /** @type {Record<string, number>} */
  const parallel = {};
  const connectors = topology.connectors.map((connector) => {
    const [begin, end] = connector.between.map((site) => boxes[site]);
    const places = connector.between.map((site) => order.indexOf(site));
    // A line over another site of its row is above the lines between neighbours, and its words are in the first gap.
    const isOver = begin.y === end.y && Math.abs(places[0] - places[1]) > 1;
    const pair = isOver ? `over ${begin.y}` : pairOf(connector);
    const count = (parallel[pair] = (parallel[pair] ?? -1) + 1);
    const beside = topology.connectors.filter((other) => pairOf(other) === pairOf(connector)).length;
    const nth = isOver ? -1 - count : count - (beside - 1) / 2;
    const from = edge(begin, centre(end), nth, sizes.between);
    const to = edge(end, centre(begin), nth, sizes.between);
    const middle = (from.x + to.x) / 2;
    return {
      name: connector.name,
      from,
      to,
      label: {
        x: isOver ? from.x + (Math.sign(to.x - from.x) * sizes.between) / 2 : middle,
        y: (from.y + to.y) / 2,
      },
      sites: connector.between,
      isOver,
      isNarrow: isOver || count < beside - 1,
    };
  });
  return { width, height: y - ROWS_APART, sites, servers, connectors };
}

/** @param {import("./lab_state.js").Connector} connector */
const pairOf = (connector) => [...connector.between].sort().join("|");

/** A site with more servers than this has no lines between them, because the lines would hide everything. */
const MOST_IN_MESH = 6;

/**
 * Return the lines between the servers of each site, which send mail to each other directly.
 * @param {MapLayout} layout
 * @param {Topology} topology
 * @returns {[Point, Point][]}
 */
export function meshOf(layout, topology) {
  return topology.sites.flatMap((site) => {
    const members = Object.keys(topology.servers).filter((name) => topology.servers[name].site === site);
    if (members.length > MOST_IN_MESH) return [];
    return members.flatMap((one, index) =>
      members
        .slice(index + 1)
        .map((other) => /** @type {[Point, Point]} */ ([centre(layout.servers[one]), centre(layout.servers[other])])),
    );
  });
}

/**
 * @param {Box} box
 * @returns {Point}
 */
export function centre(box) {
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/**
 * Return where the line from the centre of a box towards a point leaves the box. Connectors between the same two sites are drawn
 * beside each other: in a row one below the other, with room for two lines of words, and between rows side by side.
 * @param {Box} box
 * @param {Point} towards
 * @param {number} nth
 * @param {number} [wide] the room for words between two lines that stand side by side
 * @returns {Point}
 */
function edge(box, towards, nth, wide = LINES_APART) {
  const from = centre(box);
  const dx = towards.x - from.x;
  const dy = towards.y - from.y;
  const scale = Math.min(dx ? box.width / 2 / Math.abs(dx) : Infinity, dy ? box.height / 2 / Math.abs(dy) : Infinity);
  const across = Math.abs(dx) >= Math.abs(dy);
  return {
    x: from.x + dx * scale + (across ? 0 : nth * wide),
    y: from.y + dy * scale + (across ? nth * LINES_APART : 0),
  };
}

/**
 * Return the way that a mail takes on the map from the edge of one server's card to the edge of another's, whose words it leaves
 * free. Between sites it follows the connector.
 * @param {MapLayout} layout
 * @param {Topology} topology
 * @param {string} from
 * @param {string} to
 * @param {string} connector
 * @returns {Point[]}
 */
export function wayOf(layout, topology, from, to, connector) {
  const sender = layout.servers[from];
  const receiver = layout.servers[to];
  if (!sender || !receiver) return [];
  const line = layout.connectors.find((candidate) => candidate.name === connector);
  if (!line) return [edge(sender, centre(receiver), 0), edge(receiver, centre(sender), 0)];
  const [begins, ends] = line.sites[0] === topology.servers[from]?.site ? [line.from, line.to] : [line.to, line.from];
  return [edge(sender, begins, 0), begins, ends, edge(receiver, ends, 0)];
}
