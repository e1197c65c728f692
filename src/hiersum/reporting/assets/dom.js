// Elements from plain values. Text from sources only ever becomes text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return an HTML element; an attribute `onclick` takes a listener, null and false leave one out. */
export function h(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** Return an SVG element. */
export function s(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** Text that only a screen reader says. */
export function hidden(text) {
  return h("span", { class: "visually-hidden" }, text);
}

/** "1 source", "2 sources", "no sources". */
export function count(number, noun) {
  return `${number === 0 ? "no" : number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** Names in one sentence: "a, b and c". */
export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** Run an action on Enter and Space, as a button does. */
export function onActivate(action) {
  return (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    action(event);
  };
}

let lastId = 0;

/** An id that no other element has. */
export function freshId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}
