// How far a summary is, stage by stage.

import { h } from "./dom.js";
import { systemName } from "./result.js";

const STAGES = { queued: "Waiting", reading: "Reading", encoding: "Encoding", writing: "Writing", sourcing: "Finding sources" };

/** Return the element of a run, and the function that takes its progress events. */
export function progressOf(request, onCancel) {
  const names = Object.keys(STAGES);
  const items = names.map((name) => h("li", {}, STAGES[name]));
  const bar = h("progress", { class: "visually-hidden", max: String(names.length), value: "0", "aria-label": `Progress of ${systemName(request)}` });
  const text = h("span", {}, "Sending …");
  const element = h(
    "section",
    { class: "card run", "aria-label": `Progress of ${systemName(request)}` },
    h("div", { class: "run-head" }, h("span", {}, h("b", {}, systemName(request)), " · ", text), h("button", { type: "button", onclick: onCancel }, "Cancel")),
    h("ol", { class: "stages", "aria-hidden": "true" }, items),
    bar,
  );
  function tell({ stage, done, total }) {
    const at = names.indexOf(stage);
    if (at < 0) return;
    const amount = stage === "queued" && done ? ` (${done} before this)` : total && done ? ` (${done.toLocaleString("en")} of ${total.toLocaleString("en")})` : "";
    text.textContent = `${STAGES[stage]}${amount} …`;
    bar.value = at + (total ? done / total : 0);
    items.forEach((item, index) => {
      item.classList.toggle("is-done", index < at);
      item.classList.toggle("is-now", index === at);
    });
  }
  return { element, tell };
}
