// The summary: sentences to point at, with marks for their sources and for what no source supports.

import { disagreementList } from "./disagreements.js";
import { count, h, hidden, listed, onActivate } from "./dom.js";
import { keyOf, percentOf, quotedSentences, summaryName } from "./result.js";

const MAX_MARKS = 4;
const LOW_SUPPORT = 0.5;

/**
 * Return the card of a result. `actions` are buttons to put below it; `onShowUnread` opens what was not read,
 * `onShow` a paragraph.
 */
export function summaryCard(result, index, selection, { isCompared, actions, onShowUnread, onShow }) {
  const sentences = result.sentences.map((sentence, number) =>
    sentenceElement(result, index, sentence, number, selection),
  );
  const detail = h("div", { class: "sentence-detail" });
  const showDetail = () => {
    const isHere = selection.result === index && selection.sentence !== null;
    sentences.forEach(({ text }, number) => {
      const isChosen = isHere && selection.sentence === number;
      text.classList.toggle("is-chosen", isChosen);
      text.setAttribute("aria-pressed", String(isChosen && selection.isPinned));
    });
    detail.replaceChildren(...(isHere ? sentenceDetail(result, selection.sentence, onShow) : [hint(result)]));
  };
  selection.subscribe(showDetail);
  const card = h(
    "section",
    { class: "card summary", "aria-label": summaryName(result.line) },
    heading(result, isCompared),
    result.line.answered === false ? h("p", { class: "no-answer" }, "No document answers this.") : null,
    h(
      "p",
      { class: "summary-text", dir: "auto" },
      sentences.length ? sentences.map(({ whole }) => [whole, " "]) : emptyText(result),
    ),
    detail,
    legend(result),
    disagreementList(result, index, selection, onShow),
    droppedList(result.line.dropped ?? []),
    footer(result, actions, onShowUnread),
  );
  showDetail();
  return card;
}

function emptyText({ line }) {
  return line.dropped?.length
    ? "Nothing is left of this summary: no sentence had enough support."
    : "Nothing was written about these documents.";
}

/** The title; of two summaries under one title, what each of them is. */
function heading({ line, sentences, title, isExtractive }, isCompared) {
  const numQuoted = sentences.filter(({ quoted }) => quoted).length;
  const mixed = numQuoted ? `${numQuoted} of ${sentences.length} sentences quoted` : "in the model’s own words";
  const how = isExtractive ? "quoted from the sources" : mixed;
  const [small, large] = isCompared
    ? [`${title} · ${how}`, summaryName(line)]
    : [`${summaryName(line)} · ${how}`, title];
  return [h("p", { class: "eyebrow", dir: "auto" }, small), h("h1", { class: "title", dir: "auto" }, large)];
}

function sentenceElement(result, index, sentence, number, selection) {
  const choose = () => selection.toggle(index, number);
  const text = h(
    "span",
    {
      class: "sentence",
      role: "button",
      tabindex: "0",
      "aria-pressed": "false",
      onclick: choose,
      onkeydown: onActivate(choose),
      onpointerenter: (event) => event.pointerType === "mouse" && selection.glance(index, number),
      onpointerleave: (event) => event.pointerType === "mouse" && selection.glance(index, null),
      onfocus: () => selection.glance(index, number),
      onblur: () => selection.glance(index, null),
    },
    markedText(sentence),
  );
  const shown = sentence.sources.slice(0, MAX_MARKS).map(({ document, paragraph }) => {
    const mark = result.numbers.get(keyOf(document, paragraph));
    return h("sup", { class: "mark" }, hidden(" source "), String(mark));
  });
  const numMore = sentence.sources.length - shown.length;
  if (numMore > 0) shown.push(h("sup", { class: "mark" }, `+${numMore}`));
  if (!sentence.sources.length) shown.push(h("sup", { class: "mark none" }, hidden(" no source "), "?"));
  if (sentence.disputed) shown.push(" ", disputedMark(result, index, sentence, selection));
  return { text, whole: h("span", {}, text, shown, supportMark(sentence)) };
}

/** Leads from a sentence to the disagreement that one of its sources is a side of. */
function disputedMark(result, index, { sources }, selection) {
  const places = new Set(sources.map(({ document, paragraph }) => keyOf(document, paragraph)));
  const isSide = ({ document, paragraph }) => places.has(keyOf(document, paragraph));
  const number = result.disagreements.findIndex(({ sides }) => sides.some(isSide));
  if (number < 0) return h("small", { class: "disputed" }, "disputed");
  return h(
    "button",
    {
      type: "button",
      class: "link disputed",
      title: "Another document says otherwise. Show both places.",
      onclick: () => selection.toggleDisagreement(index, number),
    },
    "disputed",
  );
}

/** How well its sources support a sentence, in small; nothing where it was not checked. */
export function supportMark({ support }) {
  const percent = percentOf(support);
  if (!percent) return null;
  const isLow = support < LOW_SUPPORT;
  return h(
    "span",
    { class: `support${isLow ? " is-low" : ""}`, title: `Support: ${percent}` },
    hidden(isLow ? " low support " : " support "),
    percent,
  );
}

/** The sentence as it is shown, with unsupported stretches marked; offsets count code points of its text. */
function markedText({ text, shown, unsupported }) {
  const start = shown.lastIndexOf(text); // a quotation has its speaker before it
  const characters = Array.from(text);
  const parts = [shown.slice(0, start)];
  let end = 0;
  for (const span of [...(unsupported ?? [])].sort((a, b) => a.start - b.start)) {
    if (!(span.start >= end && span.end > span.start)) continue;
    parts.push(characters.slice(end, span.start).join(""));
    const said = characters.slice(span.start, span.end).join("");
    parts.push(h("span", { class: "unsupported", title: "in no source" }, said, hidden(" (in no source)")));
    end = span.end;
  }
  return [...parts, characters.slice(end).join(""), shown.slice(start + text.length)];
}

function hint(result) {
  const text = result.sentences.length ? "Point at a sentence, or tap it, to see where it comes from." : "";
  return h("p", { class: "soft" }, text);
}

function sentenceDetail(result, number, onShow) {
  const sentence = result.sentences[number];
  const where = h(
    "p",
    { class: "detail-title" },
    [
      `Sentence ${number + 1}`,
      count(sentence.sources.length, "source"),
      ...(percentOf(sentence.support) ? [`${percentOf(sentence.support)} support`] : []),
    ].join(" · "),
  );
  const isChecked = percentOf(sentence.support) !== "";
  const sources = sentence.sources.map(({ document, paragraph, score, quote }, at) => {
    const isNew = quote && quote !== sentence.sources[at - 1]?.quote; // copies have the same sentence
    const key = keyOf(document, paragraph);
    return h(
      "li",
      {},
      h("span", { class: "mark-number" }, String(result.numbers.get(key))),
      h(
        "button",
        { type: "button", class: "link detail-name", onclick: () => onShow(document, paragraph) },
        result.placeName(document, paragraph),
      ),
      isChecked ? null : h("span", { class: "soft figure" }, percentOf(score), hidden(" support")),
      isNew && !sentence.quoted
        ? quotedSentences(quote).map((line) => h("q", { class: "detail-quote", dir: "auto" }, line))
        : null,
    );
  });
  return [
    where,
    sources.length ? h("ol", { class: "detail-sources" }, sources) : h("p", {}, "No source supports it."),
    sentence.quoted ? h("p", { class: "note" }, "Quoted word for word from the source.") : "",
    ...unsupportedNotes(sentence),
  ];
}

function unsupportedNotes(sentence) {
  if (!sentence.unsupported?.length) return [];
  const texts = sentence.unsupported.map((span) => `“${span.text}”`);
  return [h("p", { class: "note" }, h("b", { class: "unsupported-key" }, "In no source: "), listed(texts))];
}

function legend(result) {
  const entries = [
    result.sentences.some(({ unsupported }) => unsupported?.length) &&
      h("li", {}, h("span", { class: "unsupported" }, "found in no source")),
    result.sentences.some(({ support }) => percentOf(support)) &&
      h("li", {}, h("span", { class: "support" }, "%"), "how likely the sources say this"),
    result.sentences.some(({ quoted }) => quoted) && h("li", {}, "“ ” quoted word for word"),
  ].filter(Boolean);
  return entries.length ? h("ul", { class: "legend" }, entries) : null;
}

/** Sentences that were written and then left out, and why. */
function droppedList(dropped) {
  if (!dropped.length) return null;
  const items = dropped.map((sentence) =>
    h(
      "li",
      {},
      h("span", { class: "dropped-text", dir: "auto" }, sentence.shown),
      h("span", { class: "soft dropped-reason" }, reasonOf(sentence)),
    ),
  );
  return h(
    "details",
    { class: "dropped" },
    h("summary", {}, `Left out (${count(dropped.length, "sentence")})`),
    h("ul", {}, items),
  );
}

function reasonOf({ reason }) {
  const text = reason || "no source supports it";
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

/** What a reader should know of documents that were not read or not used. */
function missingText({ line, names }) {
  if (line.unread.length) return `${count(line.unread.length, "document")} not fully read`;
  const { length } = line.uncited ?? [];
  return length ? `draws on ${names.length - length} of ${count(names.length, "document")}` : "";
}

function footer(result, actions, onShowUnread) {
  const facts = [count(result.sentences.length, "sentence"), count(result.numWords, "word")];
  const missing = missingText(result);
  const unread = missing
    ? h("button", { type: "button", class: "link", onclick: onShowUnread }, missing)
    : null;
  return h(
    "footer",
    { class: "card-footer" },
    h("p", { class: "soft" }, facts.join(" · "), unread && [" · ", unread]),
    h("div", { class: "actions" }, actions),
  );
}
