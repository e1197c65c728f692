// The judges' page: one task at a time, every answer saved at once. The same file works from a web server and,
// with its data inside the page, from a file without any network. Texts only ever enter the page as text.
"use strict";

const $ = (id) => document.getElementById(id);
const make = (tag, options = {}, ...children) => {
  const { dataset, ...rest } = options;
  const element = Object.assign(document.createElement(tag), rest);
  Object.assign(element.dataset, dataset || {});
  element.append(...children);
  return element;
};
const randomName = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

// ---- where answers go -------------------------------------------------------------------------------------------

function onlineStore() {
  const base = `/api/judge/${location.pathname.split("/").pop()}`;
  const ask = async (path, body) => {
    const response = await fetch(base + path, body === undefined ? {} : {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    const answer = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
    if (!response.ok) throw Object.assign(new Error(answer.error), { refused: response.status < 500 });
    return answer;
  };
  return {
    offline: false,
    load: () => ask(""),
    beginRatings: () => ask("/ratings", {}),
    save: (submission) => ask("/answers", submission),
  };
}

function offlineStore(view) {
  const name = `hiersum-${view.study}-${view.judge}`;
  const all = () => JSON.parse(localStorage.getItem(name) || '{"saved": {}, "begun": false}');
  const keep = (change) => localStorage.setItem(name, JSON.stringify(Object.assign(all(), change)));
  const withRatings = () => ({ ...view, ratings: all().begun || !view.qa.length ? view.ratings : null });
  return {
    offline: true,
    load: async () => ({ ...withRatings(), saved: all().saved }),
    beginRatings: async () => { keep({ begun: true }); return withRatings(); },
    save: async ({ task, answers, seconds }) => keep({ saved: { ...all().saved, [task]: { answers, seconds } } }),
    download: () => {
      const file = { format: 1, study: view.study, judge: view.judge, answers: all().saved };
      const link = make("a", {
        href: URL.createObjectURL(new Blob([JSON.stringify(file, null, 1)], { type: "application/json" })),
        download: `answers-${view.judge}.json`,
      });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    },
  };
}

const inside = $("study-data");
const store = inside ? offlineStore(JSON.parse(inside.textContent)) : onlineStore();

// ---- saving: one request at a time, again until it is acknowledged ------------------------------------------------

const session = randomName();
const unsaved = new Map();
let sequence = 0, isSaving = false;

function say(text, isError = false) {
  $("status").textContent = text;
  $("status").classList.toggle("error", isError);
}

function queueSave(task) {
  const { answers, seconds } = state.saved[task.id];
  const whole = Math.round(seconds * 10) / 10;
  unsaved.set(task.id, { task: task.id, session, sequence: ++sequence, answers: { ...answers }, seconds: whole });
  say("Saving …");
  flush();
}

async function flush() {
  if (isSaving) return;
  isSaving = true;
  let pause = 500;
  while (unsaved.size) {
    const [id, submission] = unsaved.entries().next().value;
    try {
      await store.save(submission);
      if (unsaved.get(id) === submission) unsaved.delete(id);
      pause = 500;
    } catch (error) {
      if (error.refused) { // trying again would change nothing
        unsaved.delete(id);
        isSaving = false;
        say(`Not saved: ${error.message}`, true);
        return;
      }
      say("Not saved yet: there is no connection. Trying again; please keep this page open.", true);
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(2 * pause, 8000);
    }
  }
  isSaving = false;
  const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  say(store.offline ? `Kept in this browser at ${time}.` : `All answers saved at ${time}.`);
}

addEventListener("beforeunload", (event) => { if (unsaved.size) event.preventDefault(); });

// ---- time: how long a task was in sight ---------------------------------------------------------------------------

let shown = null, since = 0;
function stopClock() {
  if (shown && since) entry(shown).seconds += (performance.now() - since) / 1000;
  since = 0;
}
function leaveTask() { // the time since the last answer counts too
  stopClock();
  if (shown && Object.keys(entry(shown).answers).length) queueSave(shown);
  shown = null;
}
function startClock() { since = shown && !document.hidden ? performance.now() : 0; }
document.addEventListener("visibilitychange", () => { stopClock(); startClock(); });

// ---- what is known ------------------------------------------------------------------------------------------------

const state = { qa: [], ratings: null, saved: {} };
const entry = (task) => (state.saved[task.id] ||= { answers: {}, seconds: 0 });
const fields = (task) => task.questions ? task.questions.map((q) => q.id) : ["best", "worst"];
const isDone = (task) => fields(task).every((field) => field in entry(task).answers);
const tasks = () => [...state.qa, ...(state.ratings || [])];

function answered(task, changes) {
  stopClock();
  Object.assign(entry(task).answers, changes);
  for (const [field, value] of Object.entries(changes)) if (value === null) delete entry(task).answers[field];
  startClock();
  queueSave(task);
  showProgress();
}

function showProgress() {
  const bar = $("progress");
  bar.hidden = false;
  bar.max = state.qa.length + state.num_ratings;
  bar.value = tasks().filter(isDone).length;
}

// ---- views --------------------------------------------------------------------------------------------------------

function show(place, content) {
  $("place").textContent = place;
  $("main").replaceChildren(content);
  const heading = $("main").querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function fill(name) {
  const content = $(name).content.cloneNode(true);
  const parts = { qa: state.qa.length, rating: state.num_ratings };
  content.querySelectorAll("[data-if]").forEach((part) => { part.hidden = !parts[part.dataset.if]; });
  content.querySelectorAll("[data-count]").forEach((part) => {
    const number = parts[part.dataset.count];
    part.textContent = `(${number} ${number === 1 ? "task" : "tasks"})`;
  });
  content.querySelectorAll("[data-online]").forEach((part) => { part.hidden ||= store.offline; });
  content.querySelectorAll("[data-offline]").forEach((part) => { part.hidden ||= !store.offline; });
  const open = tasks().filter((task) => !isDone(task) && (task.questions ? !state.ratings || name === "done" : true));
  content.querySelectorAll("[data-complete]").forEach((part) => { part.hidden ||= open.length > 0; });
  const list = content.querySelector("[data-open]");
  if (list && open.length) {
    list.append(make("p", {}, "Not finished yet:"), make("ul", {}, ...open.map((task) =>
      make("li", {}, isLocked(task) ? nameOf(task) : make("a", { href: "#", onclick: (event) => {
        event.preventDefault();
        showTask(task);
      } }, nameOf(task))))));
  }
  content.querySelectorAll("[data-act]").forEach((button) => { button.onclick = () => actions[button.dataset.act](); });
  return content;
}

const isLocked = (task) => Boolean(task.questions && state.ratings && state.ratings.length);
const nameOf = (task) => {
  const part = task.questions ? state.qa : state.ratings;
  const kind = task.questions ? "Questions" : "Comparison";
  return `${kind} ${part.indexOf(task) + 1} of ${part.length}: ${task.title || "untitled"}`;
};

const actions = {
  start() {
    const next = tasks().find((task) => !isDone(task) && !isLocked(task));
    if (next) showTask(next); else afterLast();
  },
  back() {
    const reachable = tasks().filter((task) => !isLocked(task));
    showTask(reachable[reachable.length - 1]);
  },
  async "begin-ratings"() {
    for (flush(); unsaved.size;) await new Promise((resolve) => setTimeout(resolve, 50)); // part 1 closes now
    try {
      state.ratings = (await store.beginRatings()).ratings;
    } catch (error) {
      return say(`Part 2 cannot be loaded (${error.message}). Please try again.`, true);
    }
    showTask(state.ratings[0]);
  },
  download() { stopClock(); store.download(); },
};

function afterLast() {
  leaveTask();
  if (!state.ratings && state.num_ratings) show("Part 1 of 2 is done", fill("part-two"));
  else show("The end", fill("done"));
  showProgress();
}

function showTask(task) {
  leaveTask();
  const content = make("div", {});
  const body = task.questions ? questionView(task) : ratingView(task);
  content.append(make("h1", {}, task.title || "Untitled"), ...body, navigation(task));
  const part = state.qa.length && state.num_ratings ? `Part ${task.questions ? 1 : 2} of 2, ` : "";
  show(part + nameOf(task).split(":")[0].toLowerCase(), content);
  shown = task;
  entry(task);
  startClock();
  showProgress();
}

function navigation(task) {
  const own = tasks().filter((other) => !isLocked(other));
  const place = own.indexOf(task);
  const back = make("button", { type: "button", disabled: place === 0, onclick: () => showTask(own[place - 1]) }, "Back");
  const next = make("button", { type: "button", className: "main", id: "next", onclick: () => {
    document.activeElement.blur(); // so that what was just typed is taken
    if (place + 1 < own.length) showTask(own[place + 1]); else afterLast();
  } }, "Next");
  return make("div", { className: "buttons" }, back, next);
}

function questionView(task) {
  const summary = make("section", { className: "card" }, make("h2", {}, "Summary"), make("p", {}, task.summary));
  return [summary, ...task.questions.map((question, number) => questionField(task, question, number))];
}

function questionField(task, question, number) {
  const known = entry(task).answers[question.id];
  const id = `answer-${question.id}`;
  const input = make("input", {
    type: "text", id, autocomplete: "off", maxLength: state.max_answer, value: known || "", disabled: known === "",
  });
  const box = make("input", { type: "checkbox", checked: known === "" });
  let timer = 0;
  const take = () => {
    clearTimeout(timer);
    const value = input.value.trim();
    if (!input.disabled && value !== (entry(task).answers[question.id] || "")) answered(task, { [question.id]: value || null });
  };
  input.oninput = () => { clearTimeout(timer); timer = setTimeout(take, 600); };
  input.onchange = input.onblur = take;
  input.onkeydown = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // or the key would press the button it goes to
    const fields = [...document.querySelectorAll("input[type=text]:enabled")];
    (fields[fields.indexOf(input) + 1] || $("next")).focus();
  };
  box.onchange = () => {
    clearTimeout(timer);
    input.disabled = box.checked;
    if (box.checked) input.value = "";
    answered(task, { [question.id]: box.checked ? "" : null });
  };
  return make("div", { className: "question" },
    make("label", { htmlFor: id }, `${number + 1}. ${question.text}`), input,
    make("label", { className: "check" }, box, "The summary does not tell"));
}

function ratingView(task) {
  const gold = make("section", { className: "card gold" },
    make("h2", {}, "Written by a person"), make("p", {}, task.gold));
  const cards = make("div", { className: "cards" }, ...task.summaries.map((summary) => ratingCard(task, summary)));
  const ask = make("p", {}, "Which summary is the best, and which is the worst, next to the person's? ",
    make("span", { className: "soft" }, "Think of informativeness, fluency and succinctness."));
  mark(task, cards);
  return [gold, ask, cards];
}

function ratingCard(task, { letter, text }) {
  const choice = (field, name) => {
    const input = make("input", { type: "radio", name: field, value: letter });
    input.setAttribute("aria-label", `${name}: summary ${letter}`);
    input.onchange = () => choose(task, field, letter);
    input.onkeydown = (event) => { // a letter chooses, but only while a choice has the focus
      const wanted = task.summaries.find((other) => other.letter === event.key.toUpperCase());
      if (!wanted || event.ctrlKey || event.altKey || event.metaKey) return;
      document.querySelector(`input[name=${field}][value=${wanted.letter}]`).focus();
      choose(task, field, wanted.letter);
    };
    return make("label", { className: `choice ${field}` }, input, name);
  };
  return make("section", { className: "card", dataset: { letter } },
    make("h2", {}, `Summary ${letter}`), make("p", {}, text),
    make("div", { className: "choices" }, choice("best", "Best"), choice("worst", "Worst")));
}

function choose(task, field, letter) {
  const other = field === "best" ? "worst" : "best";
  const changes = { [field]: letter };
  if (entry(task).answers[other] === letter) changes[other] = null; // no summary is both
  if (task.summaries.length === 2) changes[other] = task.summaries.find((s) => s.letter !== letter).letter;
  answered(task, changes);
  mark(task, document.querySelector(".cards"));
}

function mark(task, cards) {
  const { best, worst } = entry(task).answers;
  for (const card of cards.children) {
    const { letter } = card.dataset;
    card.classList.toggle("is-best", letter === best);
    card.classList.toggle("is-worst", letter === worst);
    card.querySelector("input[name=best]").checked = letter === best;
    card.querySelector("input[name=worst]").checked = letter === worst;
  }
}

store.load().then((view) => {
  const isResumed = Object.keys(view.saved).length > 0;
  Object.assign(state, view);
  show("Welcome", fill("welcome"));
  if (isResumed) $("main").querySelector("[data-act=start]").textContent = "Go on where you stopped";
  showProgress();
}).catch((error) => {
  $("main").replaceChildren(make("p", { className: "error" }, `This page cannot be loaded: ${error.message}`));
});
