// Where the documents disagree: each version with its sentence and its place, to be lit up by a click.

import { h, listed } from "./dom.js";

/** Return the section, or nothing where no disagreement was found; `onShow` opens a paragraph. */
export function disagreementList(result, index, selection, onShow) {
  if (!result.disagreements.length) return null;
  const items = result.disagreements.map((found, number) =>
    item(result, index, found, number, selection, onShow),
  );
  const mark = () => {
    items.forEach(({ whole, button }, number) => {
      const isChosen = selection.result === index && selection.disagreement === number;
      whole.classList.toggle("is-chosen", isChosen);
      button.setAttribute("aria-pressed", String(isChosen));
    });
  };
  selection.subscribe(mark);
  mark();
  return h(
    "section",
    { class: "disagreements" },
    h("h2", {}, "Sources differ"),
    h(
      "ul",
      {},
      items.map(({ whole }) => whole),
    ),
  );
}

function item(result, index, found, number, selection, onShow) {
  const button = h(
    "button",
    {
      type: "button",
      class: "disagreement-head",
      "aria-pressed": "false",
      onclick: () => selection.toggleDisagreement(index, number),
    },
    h("b", { dir: "auto" }, headingOf(found)),
    h("span", { class: "soft" }, "Show in the documents"),
  );
  const sides = found.sides.map((side) =>
    h(
      "li",
      {},
      h("q", { class: "detail-quote", dir: "auto" }, markedValue(side)),
      h(
        "button",
        { type: "button", class: "link detail-name", onclick: () => onShow(side.document, side.paragraph) },
        result.placeName(side.document, side.paragraph),
      ),
      side.document === found.later ? h("span", { class: "soft" }, "the later one") : null,
    ),
  );
  return { button, whole: h("li", { class: "disagreement" }, button, h("ul", { class: "sides" }, sides)) };
}

/** "Injured: 27 or at least 41": what it is about, and each version once. */
function headingOf({ about, sides }) {
  const values = [...new Set(sides.map(valueOf))];
  return `${about.charAt(0).toUpperCase()}${about.slice(1)}: ${values.join(" or ")}`;
}

/** What differs; offsets count code points. */
function valueOf({ text, start, end }) {
  return Array.from(text).slice(start, end).join("");
}

function markedValue(side) {
  const characters = Array.from(side.text);
  const before = characters.slice(0, side.start).join("");
  return [before, h("b", {}, valueOf(side)), characters.slice(side.end).join("")];
}

/** What a screen reader says once both places are lit up. */
export function announceDisagreement(result, number) {
  const found = result.disagreements[number];
  const places = found.sides.map(
    (side) => `${valueOf(side)} in ${result.placeName(side.document, side.paragraph)}`,
  );
  return `Sources differ: ${listed(places)}.`;
}
