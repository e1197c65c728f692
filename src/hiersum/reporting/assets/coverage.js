// How far each document is read and used, and what was not read at all.

import { count, h, listed } from "./dom.js";
import { colourOf, keyOf, plainReason } from "./result.js";

const MAX_CELLS = 80;
const MAX_NAMES = 10;
const STATES = ["unread", "read", "cited"];

/** Return the chart of coverage with its text, and the list of what was not read. */
export function coveragePanel(result) {
  const { coverage } = result.report;
  const numCited = coverage.filter((of) => of.cited).length;
  return h(
    "div",
    {},
    h("p", { class: "lead" }, `The summary draws on ${numCited} of ${count(coverage.length, "document")}.`),
    h(
      "ul",
      { class: "legend" },
      h("li", {}, h("span", { class: "cell is-cited colour-0", "aria-hidden": "true" }), "used"),
      h("li", {}, h("span", { class: "cell is-read colour-0", "aria-hidden": "true" }), "read"),
      h("li", {}, h("span", { class: "cell is-unread colour-0", "aria-hidden": "true" }), "not read"),
    ),
    h(
      "ul",
      { class: "coverage" },
      coverage.map((of, document) => row(result, of, document)),
    ),
    unreadList(result),
  );
}

function row(result, of, document) {
  const text = of.paragraphs
    ? `${of.cited} used · ${of.read} of ${count(of.paragraphs, "paragraph")} read`
    : "not read";
  return h(
    "li",
    { class: colourOf(document) },
    h(
      "div",
      { class: "coverage-name" },
      h("span", { class: "detail-name", dir: "auto" }, result.names[document]),
      h("span", { class: "soft figure" }, text),
    ),
    h(
      "div",
      { class: "strip", "aria-hidden": "true" },
      cells(result, document).map((state) => h("span", { class: `cell is-${STATES[state]}` })),
    ),
  );
}

/** One cell per paragraph in reading order; in a long document a cell stands for several. */
function cells(result, document) {
  const { num_paragraphs: number, paragraphs } = result.report.documents[document];
  const states = new Array(Math.min(number, MAX_CELLS)).fill(0);
  for (const { position, rank } of paragraphs) {
    const cell = Math.floor((position * states.length) / number);
    const state = result.citing.has(keyOf(document, position)) ? 2 : rank === null ? 0 : 1;
    states[cell] = Math.max(states[cell], state);
  }
  return states;
}

/** Documents that were read, but that no sentence comes from. */
function unusedText(result) {
  const noted = new Set(result.line.unread.map((part) => part.document));
  const isUnused = (_, document) => !result.report.coverage[document]?.cited && !noted.has(document);
  const unused = result.names.filter(isUnused);
  if (!unused.length) return "";
  const more = unused.length > MAX_NAMES ? [count(unused.length - MAX_NAMES, "other")] : [];
  return `Nothing was taken from ${listed([...unused.slice(0, MAX_NAMES), ...more])}.`;
}

function unreadList(result) {
  const { unread } = result.line;
  const unused = h("p", { class: "soft note" }, unusedText(result));
  if (!unread.length) return (unused.prepend("Every document was read. "), unused);
  return h(
    "section",
    { class: "unread" },
    unused,
    h("h3", {}, "Not read, or not to the end"),
    h(
      "ul",
      {},
      unread.map((part) => h("li", {}, h("b", { dir: "auto" }, part.name), `: ${plainReason(part.reason)}`)),
    ),
  );
}
