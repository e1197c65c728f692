// Paragraphs on a circle, document by document, with their links.

import { h, onActivate, s } from "./dom.js";
import { colourOf } from "./result.js";

const WIDTH = 800;
const HEIGHT = 520;
const RADIUS = 195;
const NODE = 13;
const TITLE_NODE = -1;
const MAX_LABEL = 24;

/** Place nodes on a circle, document by document, with a gap between two documents. */
function layOut(result, nodes) {
  const documentOf = (node) => (node === TITLE_NODE ? -1 : result.report.ranking[node].document);
  const positionOf = (node) => (node === TITLE_NODE ? 0 : result.report.ranking[node].position);
  const ordered = [...nodes].sort((a, b) => documentOf(a) - documentOf(b) || positionOf(a) - positionOf(b));
  const groups = [];
  for (const node of ordered) {
    if (groups.at(-1)?.document !== documentOf(node)) groups.push({ document: documentOf(node), nodes: [] });
    groups.at(-1).nodes.push(node);
  }
  const gap = groups.length > 8 ? 0.4 : 1; // in steps; many documents need the room for their paragraphs
  const step = (2 * Math.PI) / (ordered.length + gap * groups.length);
  const angles = new Map();
  let angle = -Math.PI / 2;
  for (const group of groups) {
    group.start = angle;
    for (const node of group.nodes) {
      angles.set(node, angle);
      angle += step;
    }
    group.end = angle - step;
    angle += gap * step;
  }
  return { angles, groups, ordered, step };
}

function point(angle, radius) {
  return [WIDTH / 2 + radius * Math.cos(angle), HEIGHT / 2 + radius * Math.sin(angle)];
}

/** Draw a graph; `select` is called with the paragraph that is chosen. */
export function circle(result, graph, edges, chosen, cited, select) {
  const { angles, groups, ordered, step } = layOut(result, graph.nodes);
  const size = Math.min(NODE, 0.46 * step * RADIUS);
  const strongest = edges[0]?.[2] ?? 1;
  const lines = [...edges].reverse().map((edge) => link(edge, angles, strongest, chosen, graph.directed));
  const near = new Set(
    edges.filter((edge) => touches(edge, chosen, graph.directed)).flatMap(([from, to]) => [from, to]),
  );
  const nodes = ordered.map((node, order) =>
    nodeElement(result, node, angles.get(node), { order, size, chosen, near, cited, select }),
  );
  const arrows = (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = nodes.indexOf(event.target.closest("[data-node]"));
    if (!move || at < 0) return;
    event.preventDefault();
    const next = nodes[(at + move + nodes.length) % nodes.length];
    nodes.forEach((node) => node.setAttribute("tabindex", node === next ? "0" : "-1"));
    next.focus();
  };
  return s(
    "svg",
    {
      viewBox: viewBox(),
      class: chosen === null ? "graph" : "graph has-chosen",
      role: "group",
      "aria-label": `${graph.nodes.length} paragraphs and the ${edges.length} strongest links between them; arrow keys move from paragraph to paragraph`,
      onkeydown: arrows,
    },
    groups.map((group) => groupLabel(result, group, Math.min(0.06, 0.4 * step))),
    s("g", { fill: "none", "aria-hidden": "true" }, lines),
    nodes,
  );
}

/** Where there is no room for names beside the circle, a list below it has them. */
function viewBox() {
  if (!matchMedia("(max-width: 40rem)").matches) return `0 0 ${WIDTH} ${HEIGHT}`;
  const side = 2 * (RADIUS + 30);
  return `${(WIDTH - side) / 2} ${(HEIGHT - side) / 2} ${side} ${side}`;
}

/** The documents in the colours of the circle. */
export function documentList(result, nodes) {
  const documents = new Set(
    nodes.filter((node) => node !== TITLE_NODE).map((node) => result.report.ranking[node].document),
  );
  const items = [...documents]
    .sort((a, b) => a - b)
    .map((document) =>
      h("li", { class: colourOf(document) }, h("span", { class: "dot" }), result.names[document]),
    );
  return h("ul", { class: "legend graph-names", "aria-hidden": "true" }, items);
}

/** Is this a link of the chosen node? Of a directed one, only what it looks at. */
export function touches([from, to], chosen, isDirected) {
  return chosen !== null && (from === chosen || (!isDirected && to === chosen));
}

function link(edge, angles, strongest, chosen, isDirected) {
  const [from, to, weight] = edge;
  const [x1, y1] = point(angles.get(from), RADIUS - NODE);
  const [x2, y2] = point(angles.get(to), RADIUS - NODE);
  // Bent towards the middle, so that links between neighbours stay apart from the circle.
  const [x, y] = [
    WIDTH / 2 + ((x1 + x2) / 2 - WIDTH / 2) * 0.35,
    HEIGHT / 2 + ((y1 + y2) / 2 - HEIGHT / 2) * 0.35,
  ];
  const share = weight / strongest;
  return s("path", {
    d: `M${x1.toFixed(1)} ${y1.toFixed(1)}Q${x.toFixed(1)} ${y.toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`,
    class: touches(edge, chosen, isDirected) ? "edge is-near" : "edge",
    "stroke-width": (0.75 + 4.25 * share).toFixed(2),
    "stroke-opacity": (0.15 + 0.6 * share).toFixed(2),
  });
}

function nodeElement(result, node, angle, { order, size, chosen, near, cited, select }) {
  const [x, y] = point(angle, RADIUS);
  const isTitle = node === TITLE_NODE;
  const classes = ["node", isTitle ? "is-title" : colourOf(result.report.ranking[node].document)];
  if (node === chosen) classes.push("is-chosen");
  if (near.has(node)) classes.push("is-near");
  if (cited.has(node)) classes.push("is-source");
  const isFirst = chosen === null ? order === 0 : node === chosen;
  return s(
    "g",
    {
      class: classes.join(" "),
      "data-node": String(node),
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
      role: "button",
      tabindex: isFirst ? "0" : "-1",
      "aria-pressed": String(node === chosen),
      "aria-label": nodeName(result, node),
      onclick: () => select(node),
      onkeydown: onActivate(() => select(node)),
    },
    s("title", {}, nodeName(result, node)),
    s("circle", { r: (size + 6).toFixed(1), class: "target" }),
    s("circle", { r: (size + 4).toFixed(1), class: "halo" }),
    s("circle", { r: size.toFixed(1), class: "body" }),
    s(
      "text",
      { dy: "0.35em", "text-anchor": "middle", "aria-hidden": "true" },
      isTitle ? "T" : String(node + 1),
    ),
  );
}

/** What a paragraph of a graph is called. */
export function nodeName(result, node) {
  if (node === TITLE_NODE) return "The title";
  const { document, position } = result.report.ranking[node];
  return `Rank ${node + 1}: ${result.placeName(document, position)}`;
}

function groupLabel(result, { document, start, end }, margin) {
  if (document < 0) return null;
  const [x1, y1] = point(start - margin, RADIUS + 25);
  const [x2, y2] = point(end + margin, RADIUS + 25);
  const middle = (start + end) / 2;
  const [x, y] = point(middle, RADIUS + 38);
  const isLarge = end - start > Math.PI ? 1 : 0;
  const side = Math.cos(middle);
  const anchor = side > 0.3 ? "start" : side < -0.3 ? "end" : "middle";
  const name = result.names[document];
  return s(
    "g",
    { class: colourOf(document), "aria-hidden": "true" },
    s("path", {
      class: "group-arc",
      fill: "none",
      d: `M${x1.toFixed(1)} ${y1.toFixed(1)}A${RADIUS + 25} ${RADIUS + 25} 0 ${isLarge} 1 ${x2.toFixed(1)} ${y2.toFixed(1)}`,
    }),
    s(
      "text",
      {
        x: x.toFixed(1),
        y: (y + 4 + 6 * Math.sin(middle)).toFixed(1),
        "text-anchor": anchor,
        class: "group-name",
      },
      name.length > MAX_LABEL ? `${name.slice(0, MAX_LABEL - 1)}…` : name,
    ),
  );
}
