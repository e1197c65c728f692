// The view of one or more results: summaries, and below or beside them what they come from.

import { coveragePanel } from "./coverage.js";
import { announceDisagreement } from "./disagreements.js";
import { count, freshId, h, listed } from "./dom.js";
import { graphPanel } from "./graph.js";
import { rankingPanel } from "./ranking.js";
import { keyOf, percentOf, Result, summaryName } from "./result.js";
import { Selection } from "./selection.js";
import { sourcesPanel } from "./sources.js";
import { summaryCard } from "./summary.js";

/**
 * Fill an element with the view of result lines that have a `report`.
 *
 * Two results of the same documents can be compared: both summaries are shown, the panels are those of
 * the one that was last pointed at. Of other lists one result is shown at a time.
 */
export function showResults(root, lines, { isComparison = false, actionsOf = () => [] } = {}) {
  const results = lines.map((line) => new Result(line));
  const selection = new Selection();
  const live = h("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  const cards = h("div", { class: "cards" });
  const details = h("div", { class: "details" });
  const navigator = h("div", {
    class: "navigator",
    role: "region",
    "aria-label": "Places of what is chosen",
  });
  navigator.hidden = true;
  let shown = -1;
  let panels = null;
  const made = new Map();

  /** The card and the panels of a result, made when it is first shown. */
  function partsOf(index) {
    if (!made.has(index)) {
      const of = detailPanels(results[index], index, selection, isComparison);
      const onShowUnread = () => {
        selection.show(index);
        of.open("coverage");
      };
      const card = summaryCard(results[index], index, selection, {
        isCompared: isComparison,
        actions: actionsOf(index),
        onShowUnread,
        onShow: of.show,
      });
      made.set(index, { card, panels: of });
    }
    return made.get(index);
  }

  function showDetails() {
    if (selection.result === shown) return;
    shown = selection.result;
    ({ panels } = partsOf(shown));
    details.replaceChildren(panels.whole);
    if (!isComparison) cards.replaceChildren(partsOf(shown).card);
  }

  selection.subscribe((_, isDeliberate) => {
    showDetails();
    const result = results[shown];
    live.textContent = announcement(result, selection);
    if (!selection.isEmpty) panels.reveal(isDeliberate);
    showNavigator(navigator, selection, panels, cards);
  });
  const onKey = (event) => event.key === "Escape" && !selection.isEmpty && selection.clear();
  root.replaceChildren(
    h(
      "div",
      { class: isComparison ? "view is-comparison" : "view", onkeydown: onKey },
      results.length > 1 && !isComparison ? picker(results, selection) : null,
      cards,
      details,
      navigator,
      live,
    ),
  );
  if (isComparison) cards.replaceChildren(...results.map((_, index) => partsOf(index).card));
  showDetails();
}

/** Choose one of several summaries. */
function picker(results, selection) {
  const options = results.map((result, index) =>
    h("option", { value: String(index) }, `${index + 1}. ${result.title}`),
  );
  const select = h("select", { onchange: () => selection.show(Number(select.value)) }, options);
  return h(
    "nav",
    { class: "picker", "aria-label": "Summaries" },
    h("label", { class: "field" }, h("span", {}, `${results.length} summaries`), select),
  );
}

/** What a screen reader says of what is looked at. */
function announcement(result, { sentence, disagreement }) {
  if (disagreement !== null) return announceDisagreement(result, disagreement);
  if (sentence === null) return "";
  const { sources, support } = result.sentences[sentence];
  const names = sources.map((of) => result.placeName(of.document, of.paragraph));
  const percent = percentOf(support);
  return [
    `Sentence ${sentence + 1}: `,
    percent ? `${percent} support, ` : "",
    count(sources.length, "source"),
    names.length ? `: ${listed(names)}.` : ".",
  ].join("");
}

/** The tabs of a result, and ways to open one and to bring sources into view. */
function detailPanels(result, index, selection, isComparison) {
  const sources = sourcesPanel(result, index, selection);
  const show = (document, position) => {
    tabs.open("sources");
    const element = sources.panel.querySelector(`[data-key="${keyOf(document, position)}"]`);
    if (element) {
      scrollTo(tabs.body, element, true);
      element.focus({ preventScroll: true });
    }
  };
  const tabs = makeTabs([
    ["sources", "Sources", sources.panel],
    ["ranking", "Ranking", rankingPanel(result, index, selection, show)],
    ["graph", "Graph", graphPanel(result, index, selection)],
    ["coverage", "Coverage", coveragePanel(result)],
  ]);
  const heading = isComparison
    ? h("h2", { class: "details-title" }, `Behind “${summaryName(result.line)}”`)
    : h("h2", { class: "visually-hidden" }, "What the summary comes from");
  return {
    whole: h(
      "section",
      { class: "card panels", "aria-label": "What the summary comes from" },
      heading,
      tabs.bar,
      tabs.body,
    ),
    open: tabs.open,
    show,
    chosen: sources.chosen,
    reveal: (isDeliberate) => {
      if (isDeliberate && tabs.current() !== "sources" && tabs.current() !== "graph") tabs.open("sources");
      const [first] = sources.chosen();
      if (first && tabs.current() === "sources") scrollTo(tabs.body, first, isDeliberate);
    },
  };
}

/**
 * Bring an element into view within its panel. Where the panel does not scroll by itself (a phone), the
 * page moves, and only when the reader has asked for it.
 */
function scrollTo(panel, element, isDeliberate) {
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  if (panel.scrollHeight > panel.clientHeight + 1 && getComputedStyle(panel).overflowY !== "visible") {
    const top = element.getBoundingClientRect().top - panel.getBoundingClientRect().top + panel.scrollTop;
    panel.scrollTo({ top: top - Math.max(24, (panel.clientHeight - element.offsetHeight) / 3), behavior });
  } else if (isDeliberate) {
    element.scrollIntoView({ block: "center", behavior });
  }
}

/** Tabs as screen readers and keyboards expect them: one stop, arrows between them. */
function makeTabs(entries) {
  const body = h("div", { class: "panel-body" });
  const made = entries.map(([name, title, content]) => {
    const id = freshId("panel");
    const tab = h(
      "button",
      {
        type: "button",
        role: "tab",
        class: "tab",
        id: `${id}-tab`,
        "aria-controls": id,
        onclick: () => open(name),
      },
      title,
    );
    const panel = h(
      "div",
      { role: "tabpanel", id, class: `panel panel-${name}`, "aria-labelledby": `${id}-tab` },
      h("h2", { class: "print-title" }, title),
      content,
    );
    return { name, tab, panel };
  });
  let current = "";
  function open(name) {
    if (name === current) return;
    current = name;
    for (const { name: of, tab, panel } of made) {
      tab.setAttribute("aria-selected", String(of === name));
      tab.setAttribute("tabindex", of === name ? "0" : "-1");
      panel.classList.toggle("is-closed", of !== name);
    }
    body.scrollTop = 0;
  }
  const bar = h(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "What the summary comes from", onkeydown: move },
    made.map(({ tab }) => tab),
  );
  function move(event) {
    const at = made.findIndex(({ name }) => name === current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: made.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const { name, tab } = made[(to + made.length) % made.length];
    open(name);
    tab.focus();
  }
  body.append(...made.map(({ panel }) => panel));
  open(entries[0][0]);
  return { bar, body, open, current: () => current };
}

/** On a phone, where summary and sources are far apart: step through sources, and go back. */
function showNavigator(navigator, selection, panels, cards) {
  navigator.hidden = !selection.isPinned;
  if (navigator.hidden) return;
  const elements = panels.chosen();
  const name = selection.sentence === null ? "Sources differ" : `Sentence ${selection.sentence + 1}`;
  const noun = selection.sentence === null ? "place" : "source";
  let at = 0;
  const label = h("span", {});
  const step = (by) => {
    at = (at + by + elements.length) % elements.length;
    elements[at].scrollIntoView({ block: "center" });
    describe();
  };
  const describe = () => {
    label.textContent = elements.length
      ? `${name} · ${noun} ${at + 1} of ${elements.length}`
      : `${name} · no ${noun}`;
  };
  const back = () => {
    const chosen = cards.querySelector(".sentence.is-chosen, .disagreement.is-chosen button");
    selection.clear();
    chosen?.scrollIntoView({ block: "center" });
    chosen?.focus({ preventScroll: true });
  };
  describe();
  navigator.replaceChildren(
    label,
    h(
      "span",
      { class: "actions" },
      elements.length > 1 ? h("button", { type: "button", onclick: () => step(1) }, `Next ${noun}`) : null,
      h("button", { type: "button", onclick: back }, "Back to summary"),
    ),
  );
}
