// How paragraphs relate, drawn as a circle of paragraphs with links, and as a table for everyone else.

import { circle, documentList, nodeName, touches } from "./circle.js";
import { h, hidden } from "./dom.js";
import { colourOf } from "./result.js";

const MAX_ROWS = 100;
const KINDS = {
  similarity: [
    "Similar words",
    "Two paragraphs are linked by how many rare words they share (cosine of tf-idf).",
  ],
  discourse: [
    "Shared names and markers",
    "Two paragraphs are linked by the names they share, and by words such as “however” that join neighbours.",
  ],
  attention: [
    "Learned attention",
    "A paragraph is linked to those that the network looks at while it reads it.",
  ],
};

/** Return the panel with the drawing, its controls and its table. */
export function graphPanel(result, index, selection) {
  const { graphs } = result.report;
  if (!graphs.some((graph) => graph.edges.length)) {
    return h("p", { class: "soft" }, "There is nothing to draw: no two paragraphs are related.");
  }
  const state = { graph: graphs.find((graph) => graph.edges.length), numEdges: 0, node: null };
  const drawing = h("div", { class: "drawing" });
  const explanation = h("p", { class: "soft lead" });
  const detail = h("div", { class: "node-detail", "aria-live": "polite" });
  const table = h("div", { class: "wide", role: "region", tabindex: "0", "aria-label": "Table of links" });
  const slider = h("input", {
    type: "range",
    min: "1",
    oninput: () => ((state.numEdges = Number(slider.value)), draw()),
  });
  const sliderText = h("span", { class: "figure" });

  function choose(graph) {
    state.graph = graph;
    state.numEdges = Math.min(graph.edges.length, Math.max(12, 2 * graph.nodes.length));
    slider.max = String(Math.max(graph.edges.length, 1));
    slider.value = String(state.numEdges);
    slider.disabled = graph.edges.length < 2;
    explanation.textContent = KINDS[graph.kind][1];
    if (!graph.nodes.includes(state.node)) state.node = null;
    table.replaceChildren(linkTable(result, graph));
    draw();
  }

  function select(node) {
    state.node = state.node === node ? null : node;
    draw();
    drawing.querySelector(`[data-node="${node}"]`)?.focus();
  }

  function draw() {
    const edges = state.graph.edges.slice(0, state.numEdges);
    sliderText.textContent = edges.length
      ? `${edges.length} of ${state.graph.edges.length}, weight from ${edges.at(-1)[2].toFixed(2)}`
      : "none";
    const cited = selection.result === index ? result.ranksOf(selection) : new Set();
    drawing.replaceChildren(
      circle(result, state.graph, edges, state.node, cited, select),
      documentList(result, state.graph.nodes),
    );
    detail.replaceChildren(...nodeDetail(result, state.graph, state.node));
  }

  selection.subscribe(draw);
  const panel = h(
    "div",
    {},
    h(
      "div",
      { class: "controls" },
      graphChoice(graphs, choose),
      h("label", { class: "field grow" }, h("span", {}, "Links shown ", sliderText), slider),
    ),
    explanation,
    drawing,
    detail,
    h("details", {}, h("summary", {}, "The links as a table"), table),
    result.report.missing.map((sentence) => h("p", { class: "soft" }, sentence)),
  );
  choose(state.graph);
  return panel;
}

/** Selects for the kind and, where a network relates paragraphs, its layer and head. */
function graphChoice(graphs, choose) {
  const kinds = [...new Set(graphs.map((graph) => graph.kind))];
  const attention = graphs.filter((graph) => graph.kind === "attention");
  const option = (value, text) => h("option", { value: String(value) }, text);
  const kind = h(
    "select",
    { onchange: pick },
    kinds.map((name) => option(name, KINDS[name][0])),
  );
  const layers = [...new Set(attention.map((graph) => graph.layer))];
  const layer = h(
    "select",
    { onchange: pick },
    layers.map((number) => option(number, `Layer ${number + 1}`)),
  );
  const heads = [...new Set(attention.map((graph) => graph.head))];
  const head = h(
    "select",
    { onchange: pick },
    heads.map((number) => option(number, number === null ? "All heads" : `Head ${number + 1}`)),
  );
  const within = h(
    "span",
    { class: "controls" },
    h("label", { class: "field" }, h("span", {}, "Layer"), layer),
    h("label", { class: "field" }, h("span", {}, "Head"), head),
  );
  within.hidden = true;
  function pick() {
    within.hidden = kind.value !== "attention";
    const isWanted = (graph) =>
      graph.kind === kind.value &&
      (graph.kind !== "attention" ||
        (String(graph.layer) === layer.value && String(graph.head) === head.value));
    choose(graphs.find(isWanted));
  }
  const first = graphs.find((graph) => graph.edges.length);
  kind.value = first.kind;
  within.hidden = first.kind !== "attention";
  return [h("label", { class: "field" }, h("span", {}, "Links mean"), kind), within];
}

/** The chosen paragraph as text, and what it is linked to most. */
function nodeDetail(result, graph, node) {
  if (node === null)
    return [h("p", { class: "soft" }, "Choose a paragraph in the circle to read it and to see its links.")];
  const links = graph.edges.filter((edge) => touches(edge, node, graph.directed)).slice(0, 5);
  const ranked = result.report.ranking[node];
  const text = ranked
    ? result.paragraphs.get(`${ranked.document}:${ranked.position}`)?.text
    : result.line.title;
  const verb = graph.directed ? "It looks most at" : "It is linked most to";
  return [
    h(
      "h3",
      { class: ranked ? colourOf(ranked.document) : null },
      h("span", { class: "dot", "aria-hidden": "true" }),
      nodeName(result, node),
    ),
    h("p", { class: "excerpt", dir: "auto" }, text ?? ""),
    links.length
      ? h(
          "p",
          { class: "soft" },
          `${verb}: `,
          links
            .map(
              ([from, to, weight]) => `${nodeName(result, from === node ? to : from)} (${weight.toFixed(2)})`,
            )
            .join("; "),
        )
      : h("p", { class: "soft" }, "It has no link to another paragraph."),
  ];
}

function linkTable(result, graph) {
  const rows = graph.edges.slice(0, MAX_ROWS);
  const names = graph.directed ? ["Paragraph", "looks at", "Weight"] : ["Paragraph", "and", "Weight"];
  const more = graph.edges.length - rows.length;
  return h(
    "table",
    {},
    h("caption", { class: "visually-hidden" }, `${KINDS[graph.kind][0]}: links, strongest first`),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        names.map((name) => h("th", { scope: "col" }, name)),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map(([from, to, weight]) =>
        h(
          "tr",
          {},
          h("td", {}, nodeName(result, from)),
          h("td", {}, nodeName(result, to)),
          h("td", { class: "figure" }, weight.toFixed(3)),
        ),
      ),
    ),
    more > 0
      ? h(
          "tfoot",
          {},
          h("tr", {}, h("td", { colspan: "3", class: "soft" }, `and ${more} weaker ones`, hidden("."))),
        )
      : null,
  );
}
