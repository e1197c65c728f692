// How far a summary is, stage by stage.

import { h } from "./dom.js";
import { summaryName } from "./result.js";
import { supportMark } from "./summary.js";

const STAGES = {
  queued: "Waiting",
  reading: "Reading",
  writing: "Writing",
  checking: "Checking",
};
const PARTS = { encoding: "reading", sourcing: "checking" };

/** Return the element of a run, and the functions that take its progress and its sentences. */
export function progressOf(request, onCancel) {
  const names = Object.keys(STAGES);
  const items = names.map((name) => h("li", {}, STAGES[name]));
  const bar = h("progress", {
    class: "visually-hidden",
    max: String(names.length),
    value: "0",
    "aria-label": `Progress: ${summaryName(request)}`,
  });
  const text = h("span", {}, "Sending …");
  const written = h("p", { class: "summary-text written", dir: "auto", hidden: true });
  const element = h(
    "section",
    { class: "card run", "aria-label": `Progress: ${summaryName(request)}` },
    h(
      "div",
      { class: "run-head" },
      h("span", {}, h("b", {}, summaryName(request)), " · ", text),
      h("button", { type: "button", onclick: onCancel }, "Cancel"),
    ),
    h("ol", { class: "stages", "aria-hidden": "true" }, items),
    bar,
    written,
  );
  function tell({ stage: part, done, total }) {
    const stage = PARTS[part] ?? part;
    const at = names.indexOf(stage);
    if (at < 0) return;
    text.textContent = `${STAGES[stage]}${amount(part, done, total)} …`;
    bar.value = at + (total && stage !== "queued" ? done / total : 0);
    items.forEach((item, index) => {
      item.classList.toggle("is-done", index < at);
      item.classList.toggle("is-now", index === at);
    });
  }
  function add(sentence) {
    written.hidden = false;
    written.append(h("span", { class: "is-new" }, sentence.shown, supportMark(sentence)), " ");
  }
  return { element, tell, add };
}

/** How much of a stage is done; of waiting, how many are before. */
function amount(stage, done, total) {
  if (!total || (!done && stage !== "queued")) return "";
  const all = total.toLocaleString("en");
  return stage === "queued"
    ? ` (${all} before this one)`
    : ` (${done.toLocaleString("en")} of at most ${all})`;
}
