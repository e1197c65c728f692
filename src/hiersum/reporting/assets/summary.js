// The summary: sentences to point at, with marks for their sources and for what no source supports.

import { count, h, hidden, listed, onActivate } from "./dom.js";
import { keyOf, percentOf, shownText, summaryName } from "./result.js";

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
    h(
      "p",
      { class: "summary-text", dir: "auto" },
      sentences.length ? sentences.map(({ whole }) => [whole, " "]) : "The summary is empty.",
    ),
    detail,
    legend(result),
    droppedList(result.line.dropped ?? []),
    footer(result, actions, onShowUnread),
  );
  showDetail();
  return card;
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
    sentence.quoted ? ["“", markedText(sentence), "”"] : markedText(sentence),
  );
  const shown = sentence.sources.slice(0, MAX_MARKS).map(({ document, paragraph }) => {
    const mark = result.numbers.get(keyOf(document, paragraph));
    return h("sup", { class: "mark" }, hidden(" source "), String(mark));
  });
  const numMore = sentence.sources.length - shown.length;
  if (numMore > 0) shown.push(h("sup", { class: "mark" }, `+${numMore}`));
  if (!sentence.sources.length) shown.push(h("sup", { class: "mark none" }, hidden(" no source "), "?"));
  return { text, whole: h("span", {}, text, shown, supportMark(sentence)) };
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

/** The sentence with unsupported and contradicted stretches marked; offsets count code points. */
function markedText(sentence) {
  const characters = Array.from(sentence.text);
  const spans = [
    ...(sentence.unsupported ?? []).map((span) => ({ ...span, mark: "unsupported" })),
    ...(sentence.conflicts ?? []).map((span) => ({ ...span, mark: "conflict" })),
  ].sort((a, b) => a.start - b.start);
  const parts = [];
  let end = 0;
  for (const span of spans) {
    if (!(span.start >= end && span.end > span.start)) continue;
    parts.push(characters.slice(end, span.start).join(""));
    const said = characters.slice(span.start, span.end).join("");
    const note = span.mark === "conflict" ? "sources differ" : "in no source";
    parts.push(h("span", { class: span.mark, title: note }, said, hidden(` (${note})`)));
    end = span.end;
  }
  return [...parts, characters.slice(end).join("")];
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
      isNew && !sentence.quoted ? h("q", { class: "detail-quote", dir: "auto" }, quote) : null,
    );
  });
  return [
    where,
    sources.length ? h("ol", { class: "detail-sources" }, sources) : h("p", {}, "No source supports it."),
    sentence.quoted ? h("p", { class: "note" }, "Quoted word for word from the source.") : "",
    ...unsupportedNotes(sentence),
    ...conflictNotes(result, sentence),
  ];
}

function unsupportedNotes(sentence) {
  if (!sentence.unsupported?.length) return [];
  const texts = sentence.unsupported.map((span) => `“${span.text}”`);
  return [h("p", { class: "note" }, h("b", { class: "unsupported-key" }, "In no source: "), listed(texts))];
}

/** What other sources say instead. */
function conflictNotes(result, sentence) {
  return (sentence.conflicts ?? []).map((conflict) => {
    const where = result.names[conflict.document]
      ? ` (${result.placeName(conflict.document, conflict.paragraph)})`
      : "";
    return h(
      "p",
      { class: "note" },
      h("b", { class: "conflict-key" }, "Sources differ: "),
      `“${conflict.text}” here, “${conflict.other}” there${where}.`,
    );
  });
}

function legend(result) {
  const has = (name) => result.sentences.some((sentence) => sentence[name]?.length);
  const entries = [
    has("unsupported") && h("li", {}, h("span", { class: "unsupported" }, "found in no source")),
    has("conflicts") && h("li", {}, h("span", { class: "conflict" }, "sources differ")),
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
      h("span", { class: "dropped-text", dir: "auto" }, shownText(sentence)),
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

function footer(result, actions, onShowUnread) {
  const { line } = result;
  const facts = [
    count(result.sentences.length, "sentence"),
    count(result.numWords, "word"),
    `${line.seconds.toFixed(line.seconds < 1 ? 2 : 1)} s`,
  ];
  if (line.model) facts.push(line.model.split(/[\\/]/).at(-1));
  const unread = line.unread.length
    ? h(
        "button",
        { type: "button", class: "link", onclick: onShowUnread },
        `${count(line.unread.length, "document")} not fully read`,
      )
    : null;
  return h(
    "footer",
    { class: "card-footer" },
    h("p", { class: "soft" }, facts.join(" · "), unread && [" · ", unread]),
    h("div", { class: "actions" }, actions),
  );
}
