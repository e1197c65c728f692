// The documents, paragraph by paragraph, with the sources of the chosen sentence marked in place.

import { count, h, hidden, listed } from "./dom.js";
import { closestParts, colourOf, keyOf, plainReason } from "./result.js";

/** Return the panel of documents, and the function that finds the elements of what is looked at. */
export function sourcesPanel(result, index, selection) {
  const elements = new Map();
  const panel = h(
    "div",
    { class: "documents" },
    result.report.cut.map((sentence) => h("p", { class: "soft cut" }, sentence)),
    result.report.documents.map((of, document) =>
      documentElement(result, index, of, document, selection, elements),
    ),
  );
  const chosen = () =>
    (selection.result === index ? result.placesOf(selection) : [])
      .map((of) => ({ ...elements.get(keyOf(of.document, of.paragraph)), quote: of.quote }))
      .filter(({ whole }) => whole);
  let lit = [];
  const mark = () => {
    lit.forEach(restore);
    lit = chosen();
    const sentence = result.sentences[selection.sentence]?.text ?? "";
    for (const element of lit) highlight(element, sentence);
  };
  selection.subscribe(mark);
  mark();
  return { panel, chosen: () => chosen().map(({ whole }) => whole) };
}

function documentElement(result, index, of, document, selection, elements) {
  const unread = result.line.unread.filter((part) => part.document === document);
  const children = [];
  let expected = 0;
  for (const paragraph of of.paragraphs) {
    if (paragraph.position > expected) children.push(gap(paragraph.position - expected));
    children.push(paragraphElement(result, index, paragraph, document, selection, elements));
    expected = paragraph.position + 1;
  }
  if (of.num_paragraphs > expected) children.push(gap(of.num_paragraphs - expected));
  return h(
    "article",
    { class: `document ${colourOf(document)}`, "aria-label": result.names[document] },
    h(
      "header",
      { class: "document-head" },
      h("h3", { dir: "auto" }, h("span", { class: "dot", "aria-hidden": "true" }), result.names[document]),
      address(of.url),
    ),
    unread.map((part) => h("p", { class: "note" }, h("b", {}, "Not read: "), plainReason(part.reason))),
    children,
  );
}

/** A link to where the document came from, if that is a web address. */
function address(url) {
  if (!/^https?:\/\//i.test(url ?? "")) return null;
  return h(
    "a",
    { class: "soft", href: url, rel: "noopener noreferrer", target: "_blank" },
    url.replace(/^https?:\/\//i, ""),
  );
}

function gap(number) {
  return h("p", { class: "gap soft" }, `${count(number, "paragraph")} not shown`);
}

function paragraphElement(result, index, paragraph, document, selection, elements) {
  const key = keyOf(document, paragraph.position);
  const citing = result.citing.get(key) ?? [];
  const body = h("p", { class: "paragraph-text", dir: "auto" }, paragraph.text);
  const number = result.numbers.get(key);
  const whole = h(
    "div",
    {
      class: `paragraph${paragraph.rank === null ? " is-unread" : ""}${number ? " is-cited" : ""}`,
      "data-key": key,
      tabindex: "-1",
      role: "group",
      "aria-label": describe(result, paragraph, document, citing),
    },
    h(
      "div",
      { class: "paragraph-margin" },
      h("span", { class: "position", "aria-hidden": "true" }, `¶ ${paragraph.position + 1}`),
      number ? h("span", { class: "mark-number", "aria-hidden": "true" }, String(number)) : null,
    ),
    h(
      "div",
      {},
      body,
      paragraph.rank === null ? h("p", { class: "soft tag" }, "not read") : null,
      citing.length ? citingButtons(index, citing, selection) : null,
    ),
  );
  elements.set(key, { whole, body, text: paragraph.text });
  return whole;
}

function describe(result, paragraph, document, citing) {
  const parts = [result.placeName(document, paragraph.position)];
  if (paragraph.rank === null) parts.push("not read");
  if (citing.length)
    parts.push(
      `source of ${citing.length === 1 ? "sentence" : "sentences"} ${listed(citing.map((n) => String(n + 1)))}`,
    );
  return parts.join(", ");
}

/** The way back: from a paragraph to the sentences that use it. */
function citingButtons(index, citing, selection) {
  return h(
    "p",
    { class: "citing" },
    "Used in ",
    citing.map((number) =>
      h(
        "button",
        { type: "button", class: "chip", onclick: () => selection.toggle(index, number) },
        hidden("sentence "),
        String(number + 1),
      ),
    ),
  );
}

function highlight(element, sentence) {
  element.whole.classList.add("is-source");
  const parts = closestParts(element.text, sentence, element.quote);
  element.body.replaceChildren(...parts.flatMap(({ text, isClosest }) => (isClosest ? marked(text) : [text])));
}

/** A marked stretch; the space behind it is not marked. */
function marked(text) {
  const trimmed = text.trimEnd();
  return [h("mark", {}, trimmed), text.slice(trimmed.length)];
}

function restore(element) {
  element.whole.classList.remove("is-source");
  element.body.replaceChildren(element.text);
}
