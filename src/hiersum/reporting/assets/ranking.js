// The paragraphs that were read, best first, with the ranker's scores.

import { count, h, hidden } from "./dom.js";
import { colourOf } from "./result.js";

const FIRST_ROWS = 60;

/** Return the table of ranked paragraphs; `onShow` is called with a place to bring into view. */
export function rankingPanel(result, index, selection, onShow) {
  const ranked = result.report.ranking;
  const highest = Math.max(...ranked.map((of) => of.score ?? 0), 1e-9);
  const rows = ranked.map((of, rank) => row(result, of, rank, highest, onShow));
  const body = h("tbody", {}, rows.slice(0, FIRST_ROWS));
  const more = h(
    "button",
    { type: "button", onclick: showAll },
    `Show all ${ranked.length.toLocaleString("en")}`,
  );
  function showAll() {
    body.append(...rows.slice(FIRST_ROWS));
    more.remove();
  }
  selection.subscribe(() => {
    const cited = selection.result === index ? result.ranksOf(selection) : new Set();
    rows.forEach((element, rank) => element.classList.toggle("is-source", cited.has(rank)));
  });
  return h(
    "div",
    {},
    h("p", { class: "soft lead" }, explanation(result)),
    h(
      "div",
      { class: "wide", role: "region", tabindex: "0", "aria-label": "Table of ranked paragraphs" },
      h(
        "table",
        { class: "ranking" },
        h("caption", { class: "visually-hidden" }, "Paragraphs that were read, best first"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Rank", "Score", "Paragraph", "Used in"].map((name) => h("th", { scope: "col" }, name)),
          ),
        ),
        body,
      ),
    ),
    ranked.length > FIRST_ROWS ? more : null,
  );
}

function explanation(result) {
  const numAll = result.report.documents.reduce((sum, of) => sum + of.num_paragraphs, 0);
  const numRead = result.report.ranking.reduce((sum, of) => sum + 1 + of.also_in.length, 0);
  return (
    `${numRead.toLocaleString("en")} of ${count(numAll, "paragraph")} were read. The ranker puts first what the title asks for; ` +
    "a paragraph that stands in several documents counts once."
  );
}

function row(result, of, rank, highest, onShow) {
  const text = result.paragraphs.get(`${of.document}:${of.position}`)?.text ?? "";
  const name = result.placeName(of.document, of.position);
  const citing = result.sentencesCiting(rank).map((number) => number + 1);
  return h(
    "tr",
    { class: colourOf(of.document) },
    h("td", { class: "figure" }, String(rank + 1)),
    h("td", { class: "figure" }, of.score === null ? "" : [of.score.toFixed(2), bar(of.score / highest)]),
    h(
      "td",
      {},
      h(
        "button",
        { type: "button", class: "place", onclick: () => onShow(of.document, of.position) },
        h("span", { class: "dot", "aria-hidden": "true" }),
        name,
        hidden(" (show in place)"),
      ),
      of.also_in.length
        ? h("span", { class: "soft" }, ` and ${count(of.also_in.length, "other place")}`)
        : null,
      h("p", { class: "excerpt", dir: "auto" }, text),
    ),
    h("td", { class: "figure" }, citing.join(", ") || h("span", { class: "soft" }, "–")),
  );
}

function bar(share) {
  const fill = h("span", { class: "bar-fill" });
  fill.style.setProperty("width", `${Math.round(Math.max(share, 0) * 100)}%`);
  return h("span", { class: "bar", "aria-hidden": "true" }, fill);
}
