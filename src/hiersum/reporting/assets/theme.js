// Light, dark, or as the system is; the choice is kept where the browser lets a page keep things.

import { h } from "./dom.js";

const KEY = "hiersum-theme";

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a file opened from disk, or storage turned off
  }
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Return the button that turns the page dark or light. */
export function themeButton() {
  const chosen = stored();
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  const button = h("button", { type: "button", class: "quiet", onclick: turn });
  const label = () => (button.textContent = isDark() ? "Light" : "Dark");
  function turn() {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // it lasts as long as the page then
    }
    label();
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  return button;
}
