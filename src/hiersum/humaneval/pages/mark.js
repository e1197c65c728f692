// The marking page: each different answer once, with a proposal; a person decides. Texts only ever enter as text.
"use strict";

const $ = (id) => document.getElementById(id);
const make = (tag, options = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), options);
  element.append(...children);
  return element;
};
const address = `/api/mark/${location.pathname.split("/").pop()}`;
let groups = [];

function say(text, isError = false) {
  $("status").textContent = text;
  $("status").classList.toggle("error", isError);
}

async function save(marked) {
  say("Saving …");
  const marks = marked.map(([{ item, question, key }, mark]) => ({ item, question, key, mark }));
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ marks }) };
  try {
    const response = await fetch(address, options);
    if (!response.ok) throw new Error((await response.json()).error);
  } catch (error) {
    say(`Not saved: ${error.message}. Please choose again.`, true);
    return false;
  }
  for (const [group, mark] of marked) group.mark = mark;
  say("Saved.");
  return true;
}

function showProgress() {
  const marked = groups.filter((group) => group.mark !== null).length;
  $("progress").max = Math.max(1, groups.length);
  $("progress").value = marked;
  $("place").textContent = `${marked} of ${groups.length} different answers marked`;
  const open = groups.filter((group) => group.mark === null && group.is_match);
  $("matches").hidden = open.length === 0;
  $("matches").textContent = `Confirm ${open.length} ${open.length === 1 ? "answer that equals" : "answers that equal"} the right one`;
}

function row(group) {
  const element = make("div", { className: "group" });
  const times = group.count > 1 ? ` (${group.count} times)` : "";
  const text = make("div", {}, group.answers.join(" / "), make("span", { className: "soft small" }, times));
  const name = `mark-${groups.indexOf(group)}`;
  const choices = [1, 0.5, 0].map((mark) => {
    const input = make("input", { type: "radio", name, checked: group.mark === mark });
    input.setAttribute("aria-label", `${mark}${mark === group.proposed ? ", proposed" : ""}: ${group.answers[0]}`);
    input.onchange = async () => {
      if (await save([[group, mark]])) element.classList.add("is-marked");
      else input.checked = false;
      showProgress();
    };
    const proposed = mark === group.proposed ? " proposed" : "";
    return make("label", { className: `choice mark${proposed}`, title: proposed && `proposed: ${group.reason}` }, input, `${mark}`);
  });
  element.classList.toggle("is-marked", group.mark !== null);
  element.append(text, make("div", { className: "choices" }, ...choices));
  return element;
}

function showAll() {
  const shown = groups.filter((group) => group.mark === null || !$("open-only").checked);
  const cards = [];
  let last = "", card = null;
  for (const group of shown) {
    const id = JSON.stringify([group.item, group.question]);
    if (id !== last) {
      card = make("section", { className: "card" },
        make("p", { className: "soft small" }, group.title || group.item),
        make("h2", {}, group.text),
        make("p", {}, "Right: ", make("strong", {}, group.right.join(" / "))),
        make("details", {}, make("summary", { className: "soft small" }, "The gold summary"), make("p", {}, group.gold)));
      cards.push(card);
      last = id;
    }
    card.append(row(group));
  }
  const nothing = groups.length ? "Everything is marked." : "There are no answers to mark yet.";
  $("questions").replaceChildren(...(cards.length ? cards : [make("p", {}, nothing)]));
  showProgress();
}

$("open-only").onchange = showAll;
$("matches").onclick = async () => {
  const open = groups.filter((group) => group.mark === null && group.is_match);
  if (await save(open.map((group) => [group, group.proposed]))) showAll();
};
fetch(address).then((response) => response.json()).then((view) => {
  if (view.error) throw new Error(view.error);
  groups = view.groups;
  showAll();
}).catch((error) => { $("questions").replaceChildren(make("p", { className: "error" }, `This page cannot be loaded: ${error.message}`)); });
