// The live page: documents in, progress, summary out.

import { DocumentBox } from "./documents.js";
import { count, h, listed } from "./dom.js";
import { downloadButtons } from "./download.js";
import { progressOf } from "./progress.js";
import { plainReason, summaryName, taskName } from "./result.js";
import { fetchOffer, Problem, summarize, useApiKey } from "./stream.js";
import { themeButton } from "./theme.js";
import { showResults } from "./view.js";

const place = (name) => document.getElementById(name);
const documents = new DocumentBox(() => place("problem").querySelector(".no-text")?.remove());
const title = h("input", {
  type: "text",
  maxlength: "1000",
  placeholder: "What are they about? (optional)",
  autocomplete: "off",
});
const focus = h("input", {
  type: "text",
  maxlength: "1000",
  placeholder: "What do you want to know? (optional)",
  autocomplete: "off",
});
const system = h("select", {});
const second = h("select", {});
const words = h("input", {
  type: "number",
  min: "1",
  max: "2000",
  value: "120",
  required: true,
  oninvalid: () => (more.open = true), // a browser can only point at what is shown
});
const check = h(
  "select",
  {},
  h("option", { value: "" }, "Supported sentences"),
  h("option", { value: "strict" }, "Surely supported only"),
  h("option", { value: "draft" }, "Everything (draft)"),
);
const compare = h("input", { type: "checkbox", onchange: () => (secondField.hidden = !compare.checked) });
const secondField = h("label", { class: "field" }, h("span", {}, "Compared with"), second);
secondField.hidden = true;
const submit = h("button", { type: "submit", class: "primary" }, "Summarise");
const examples = h("div", { class: "examples" });
const more = h(
  "details",
  { class: "more" },
  h("summary", {}, "More choices"),
  h(
    "div",
    { class: "options" },
    field("What to do", system),
    secondField,
    field("Maximum words", words),
    field("Keep", check),
  ),
  h("label", { class: "check" }, compare, "Compare two summaries"),
);
const form = h(
  "form",
  {
    class: "card compose",
    onsubmit: (event) => (event.preventDefault(), run()),
    "aria-label": "Documents to summarise",
  },
  h(
    "div",
    {},
    h("h1", {}, "Many documents, one summary"),
    h("p", { class: "soft" }, "Every sentence of the summary shows where it comes from."),
    examples,
  ),
  h("fieldset", {}, h("legend", {}, "Documents about one topic"), documents.whole),
  h("div", { class: "options" }, field("Title", title), field("Question", focus)),
  more,
  h("div", { class: "actions submit" }, submit),
);

function field(name, input) {
  return h("label", { class: "field" }, h("span", {}, name), input);
}

function requests() {
  const common = {
    title: title.value.trim(),
    documents: documents.filled(),
    max_words: words.valueAsNumber,
    report: true,
  };
  if (focus.value.trim()) common.focus = focus.value.trim();
  if (check.value) common[check.value] = true;
  const systems = compare.checked ? [system.value, second.value] : [system.value];
  return systems.map((name) => ({ ...common, system: name }));
}

async function run() {
  place("problem").replaceChildren();
  if (!documents.filled().length) {
    showProblem(new Problem("Paste a text, drop a file, or try an example."), "no-text");
    documents.focus();
    return;
  }
  const asked = requests();
  const controller = new AbortController();
  const runs = asked.map((request) => progressOf(request, () => controller.abort()));
  submit.disabled = true;
  fold(asked);
  place("result").replaceChildren();
  place("progress").replaceChildren(...runs.map(({ element }) => element));
  place("progress").querySelector("button").focus();
  scrollTo({ top: 0 });
  const outcomes = await Promise.allSettled(
    asked.map((request, index) =>
      summarize(request, { signal: controller.signal, onProgress: runs[index].tell, onSentence: runs[index].add }),
    ),
  );
  submit.disabled = false;
  place("progress").replaceChildren();
  const results = outcomes.filter(({ status }) => status === "fulfilled").map(({ value }) => value);
  const failure = outcomes.find(({ status }) => status === "rejected")?.reason;
  if (!results.length) place("compose").replaceChildren(form);
  if (failure) failure.name === "AbortError" ? submit.focus() : showProblem(failure);
  if (results.length) show(results);
}

function show(results) {
  fold(results, true);
  const isComparison = results.length > 1;
  showResults(place("result"), results, {
    isComparison,
    actionsOf: (index) => downloadButtons(results, index),
  });
  place("result").focus({ preventScroll: true });
  scrollTo({ top: 0 });
}

/** The form makes room for the summary while it is written and read; a button brings it back. */
function fold(summaries, isDone = false) {
  const facts = [
    count(summaries[0].documents.length, "document"),
    listed(summaries.map(summaryName)),
    `at most ${count(words.valueAsNumber, "word")}`,
  ];
  if (focus.value.trim()) facts.push(`asked: “${focus.value.trim()}”`);
  const open = () => {
    place("compose").replaceChildren(form);
    documents.focus();
  };
  place("compose").replaceChildren(
    h(
      "div",
      { class: isDone ? "card composed" : "card composed is-running" },
      isDone ? null : h("h1", { class: "visually-hidden" }, "A summary is being made"),
      h("p", { class: "soft" }, facts.join(" · ")),
      isDone
        ? h(
            "div",
            { class: "actions" },
            h("button", { type: "button", onclick: open }, "Edit documents"),
            h("button", { type: "button", onclick: startAnew }, "New summary"),
          )
        : null,
    ),
  );
}

function startAnew() {
  title.value = focus.value = "";
  documents.replaceAll([{}]);
  place("result").replaceChildren();
  place("problem").replaceChildren();
  place("compose").replaceChildren(form);
  documents.focus();
}

/** Say kindly what went wrong and what can be done; documents and choices stay as they are. */
function showProblem(problem, kind = "") {
  const isKnown = problem instanceof Problem;
  const actions = [];
  let heading = kind ? "No documents yet" : "That did not work";
  if (problem.status === 401 || problem.status === 403) {
    heading = "This server asks for a key";
    const key = h("input", { type: "password", "aria-label": "API key", autocomplete: "off" });
    actions.push(
      key,
      h("button", { type: "button", onclick: () => (useApiKey(key.value), start()) }, "Use this key"),
    );
  } else if (problem.retryAfter !== null && isKnown && [429, 503].includes(problem.status)) {
    heading = "The server is busy";
    actions.push(h("button", { type: "button", onclick: run }, "Try again"));
  }
  place("problem").replaceChildren(
    h(
      "section",
      { class: `card problem ${kind}`, role: "alert" },
      h("h2", {}, heading),
      h(
        "p",
        {},
        isKnown
          ? asSentence(plainReason(problem.message))
          : "Something unexpected happened in this page. Reloading it may help.",
      ),
      documents.filled().length ? h("p", { class: "soft" }, "Your documents are still here.") : null,
      actions.length ? h("div", { class: "actions" }, actions) : null,
    ),
  );
  place("problem").scrollIntoView({ block: "nearest" });
  if (!isKnown) throw problem;
}

/** A message as prose; one that begins with a file's name is left as it is. */
function asSentence(message) {
  const text = /^[a-z]+ /.test(message) ? message[0].toUpperCase() + message.slice(1) : message;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function offerExamples(clusters) {
  const take = (cluster) => {
    title.value = cluster.title;
    documents.replaceAll(cluster.documents);
    run();
  };
  const buttons = clusters.map((cluster) =>
    h("button", { type: "button", class: "chip", onclick: () => take(cluster) }, cluster.title),
  );
  examples.replaceChildren(h("span", { class: "soft" }, "Try an example:"), ...buttons);
}

/** Ask the server what it offers, and fill the choices with that. */
async function start() {
  place("problem").replaceChildren();
  try {
    const offer = await fetchOffer();
    const options = () => offer.systems.map((name) => h("option", { value: name }, taskName(name)));
    system.replaceChildren(...options());
    second.replaceChildren(...options());
    system.value = offer.default;
    second.value = offer.systems.find((name) => name !== offer.default) ?? offer.default;
    if (offer.limits.default_max_words) words.value = String(offer.limits.default_max_words);
  } catch (problem) {
    showProblem(problem);
  }
}

place("tools").append(themeButton());
place("compose").append(form);
start();
fetch("assets/examples.json")
  .then((answer) => answer.json())
  .then(offerExamples);
